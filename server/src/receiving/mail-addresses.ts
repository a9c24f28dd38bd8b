import { type TenantId, tenantId } from '../database/session/index.ts'
import { randomText } from '../security/index.ts'

const letters = 'abcdefghijklmnopqrstuvwxyz234567'
/** 80 bits: nobody guesses an address. */
const secretLength = 16

/** The part of an address that nobody guesses. */
export function newAddressSecret(): string {
  return randomText(letters, secretLength)
}

/**
 * The address to which a brokerage forwards mails.
 *
 * @example mailAddress(12, 'abcdefghijklmnop', 'in.example.com') // 'quotes-12-abcdefghijklmnop@in.example.com'
 */
export function mailAddress(tenant: TenantId, secret: string, domain: string): string {
  return `quotes-${tenant}-${secret}@${domain}`
}

/** The brokerage and the secret that an address names; null if it is none of this service. Capital letters mean nothing. */
export function readMailAddress(
  address: string,
  domain: string,
): { readonly tenant: TenantId; readonly secret: string } | null {
  const [, number, secret = '', named] =
    /^quotes-([1-9]\d{0,9})-([a-z2-7]{16})@([^@]{1,255})$/.exec(address.toLowerCase()) ?? []
  if (named !== domain.toLowerCase() || Number(number) > 2_147_483_647) return null
  return { tenant: tenantId(Number(number)), secret }
}
