import { mailboxPlace } from '../access/index.ts'
import { mailboxNumber } from '../database/queries/index.ts'
import type { MailboxRow } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { type SecretKeys, seal, unsealWithAny } from '../security/index.ts'

/** A mailbox, and how to sign in to it. */
export interface MailboxAccess {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
}

/** The sealed form of the access to a mailbox: with the host, so that a password goes to no other one. */
export function sealMailbox(keys: SecretKeys, tenant: TenantId, access: MailboxAccess): Buffer {
  const { host, port, user, password } = access
  return seal(keys[0], mailboxPlace(tenant, mailboxNumber), JSON.stringify({ host, port, user, password }))
}

/** The access to a mailbox; null if it cannot be decrypted. */
export function openSealedMailbox(
  keys: SecretKeys,
  { tenant_id, secret_id, sealed }: Pick<MailboxRow, 'tenant_id' | 'secret_id' | 'sealed'>,
): MailboxAccess | null {
  const text = unsealWithAny(keys, mailboxPlace(tenant_id, secret_id), sealed)
  return text === null ? null : (JSON.parse(text) as MailboxAccess)
}
