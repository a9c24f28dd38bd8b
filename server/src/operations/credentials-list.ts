import { csvLines } from '../csv/index.ts'
import { type NamedTenant, tokensOfOtherKeys } from '../database/queries/index.ts'
import type { Database } from '../database/session/index.ts'
import { keyName, type SecretKeys } from '../security/index.ts'

/** A credential that its brokerage should replace, or must. */
export interface ListedCredential {
  readonly brokerage: NamedTenant
  readonly kind: 'service token' | 'signing secret' | 'event secret'
  readonly id: number
  /** The host of the endpoint, if it is an event secret. */
  readonly name: string
  readonly lastUsedAt: Date | null
  /** When it ends; null if it has ended. */
  readonly endsAt: Date | null
}

export interface OldToken extends ListedCredential {
  /** The name of the key that signed it; null for tokens from before keys had names. */
  readonly signedWith: string | null
}

export const credentialsHead = csvLines([
  ['brokerage', 'brokerage_id', 'credential', 'id', 'name', 'last_used', 'ends'],
])

/** A credential as a line of CSV, for spreadsheets and scripts. */
export function credentialLine(credential: ListedCredential): string {
  const { brokerage, kind, id, name, lastUsedAt, endsAt } = credential
  const [lastUsed, ends] = [lastUsedAt, endsAt].map((time) => time?.toISOString() ?? null)
  return csvLines([
    [brokerage.name, brokerage.tenant, kind, id, name, lastUsed ?? 'never', ends ?? 'has ended'],
  ])
}

/** The live service tokens of a brokerage that another key than the first of `keys` has signed, by their ids. */
export async function oldTokensOf(
  database: Database,
  brokerage: NamedTenant,
  { keys, oldUntil, now }: { keys: SecretKeys; oldUntil: number | null; now: number },
): Promise<OldToken[]> {
  const names = keys.map(keyName)
  const { tenant } = brokerage
  const rows = await database.inTenant(tenant, (transaction) =>
    tokensOfOtherKeys(transaction, tenant, keyName(keys[0]), new Date(now)),
  )
  return rows.map(({ token_id, name, last_used_at, expires_at, signed_with }) => {
    const endsAt = new Date(Math.min(expires_at.getTime(), oldUntil ?? Number.POSITIVE_INFINITY))
    const isAccepted = (signed_with === null || names.includes(signed_with)) && endsAt.getTime() > now
    return {
      brokerage,
      kind: 'service token',
      id: token_id,
      name,
      lastUsedAt: last_used_at,
      endsAt: isAccepted ? endsAt : null,
      signedWith: signed_with,
    }
  })
}
