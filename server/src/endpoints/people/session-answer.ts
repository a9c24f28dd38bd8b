import type { Static } from 'typebox'
import type { SignedInSession } from '#contract/sessions.ts'
import type { sessions } from '../../database/queries/index.ts'

/** A session in the form of the API, for somebody whose own session is `current`. */
export function sessionAnswer(
  row: sessions.SessionRow & { readonly client_name?: string | null },
  current: string,
): Static<typeof SignedInSession> {
  return {
    id: row.session_id,
    device: row.device === '' ? null : row.device,
    network: row.network,
    new_device: row.new_device,
    new_network: row.new_network,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    expires_at: row.expires_at.toISOString(),
    assistant: row.client_name ?? null,
    current: row.session_id === current,
  }
}
