import { createHash } from 'node:crypto'
import { type TenantId, tenantId } from '../database/session/index.ts'
import { type SecretKeys, sameBytes } from '../security/index.ts'
import { codeOf, isOurs } from './signed-text.ts'

/** The authorization code of an assistant's session, or one of its refresh tokens, by number. */
export interface AssistantSecret {
  readonly tenant: TenantId
  readonly sessionId: string
  /** Null: the authorization code. */
  readonly number: number | null
}

const form =
  /^lw([cr])_(\d{1,10})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_(\d{1,9})_([A-Za-z0-9_-]{43})$/

const purpose = 'assistant secrets'

/**
 * A code or refresh token as it is sent. It is signed, so that a text which this installation did not make costs no query, and the database
 * holds nothing that it could be made from.
 */
export function secretTextOf(keys: SecretKeys, { tenant, sessionId, number }: AssistantSecret): string {
  const text = `lw${number === null ? 'c' : 'r'}_${tenant}_${sessionId}_${number ?? 0}`
  return `${text}_${codeOf(keys, purpose, text)}`
}

/** What a sent code or refresh token stands for; null if this installation did not make it. */
export function secretOf(
  keys: SecretKeys,
  sent: string,
  kind: 'code' | 'refresh token',
): AssistantSecret | null {
  const [, letter, tenant = '', sessionId = '', number = '', code = ''] = form.exec(sent) ?? []
  if (letter !== (kind === 'code' ? 'c' : 'r')) return null
  const text = sent.slice(0, -code.length - 1)
  const id = Number(tenant)
  if (!isOurs(keys, purpose, text, code) || !(id > 0 && id <= 2_147_483_647)) return null
  return { tenant: tenantId(id), sessionId, number: letter === 'c' ? null : Number(number) }
}

/** Whether a verifier is the one of a challenge (RFC 7636, S256). */
export function isVerifierOf(verifier: string, challenge: string): boolean {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false
  const own = createHash('sha256').update(verifier).digest()
  return sameBytes(own, Buffer.from(challenge, 'base64url'))
}
