import { companySignInPlace } from '../access/index.ts'
import { companySignInNumber } from '../database/queries/index.ts'
import type { CompanySignInRow } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { type SecretKeys, seal, unsealWithAny } from '../security/index.ts'

/** An identity provider, and the service's account there. */
export interface Provider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
}

/** The sealed form: with issuer and client, so that a secret goes to no other one. */
export function sealProvider(keys: SecretKeys, tenant: TenantId, provider: Provider): Buffer {
  const { issuer, clientId, clientSecret } = provider
  const text = JSON.stringify({ issuer, clientId, clientSecret })
  return seal(keys[0], companySignInPlace(tenant, companySignInNumber), text)
}

/** The provider of a brokerage; null if it cannot be decrypted. */
export function openProvider(
  keys: SecretKeys,
  { tenant_id, secret_id, sealed }: Pick<CompanySignInRow, 'tenant_id' | 'secret_id' | 'sealed'>,
): Provider | null {
  const text = unsealWithAny(keys, companySignInPlace(tenant_id, secret_id), sealed)
  return text === null ? null : (JSON.parse(text) as Provider)
}
