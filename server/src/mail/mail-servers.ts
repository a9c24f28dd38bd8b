import { mailServerPlace } from '../access/index.ts'
import { mailServerNumber } from '../database/queries/index.ts'
import type { MailServerRow } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { type SecretKeys, seal, unsealWithAny } from '../security/index.ts'
import type { MailServer } from './smtp.ts'

/** The mail server that a brokerage sets. */
export interface OwnMailServer {
  readonly host: string
  readonly port: number
  readonly user: string | null
  readonly password: string | null
}

/** On this port, TLS begins with the first byte (RFC 8314). On others, STARTTLS is asked for. */
const tlsPort = 465

/** The sealed form of the access to a mail server: with the host, so that a password goes to no other one. */
export function sealMailServer(keys: SecretKeys, tenant: TenantId, server: OwnMailServer): Buffer {
  const { host, port, user, password } = server
  return seal(
    keys[0],
    mailServerPlace(tenant, mailServerNumber),
    JSON.stringify({ host, port, user, password }),
  )
}

/** The mail server of a brokerage, ready to use; null if it cannot be decrypted. */
export function openMailServer(
  keys: SecretKeys,
  { tenant_id, secret_id, sealed, from_address }: MailServerRow,
): MailServer | null {
  const text = unsealWithAny(keys, mailServerPlace(tenant_id, secret_id), sealed)
  if (text === null) return null
  const { host, port, user, password } = JSON.parse(text) as OwnMailServer
  return { host, port, isTls: port === tlsPort, user, password, from: from_address, isOperators: false }
}
