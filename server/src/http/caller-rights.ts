import { type Endpoint, readsOnly, roleAtLeast } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { permits } from '#contract/token-scopes.ts'
import type { AnonymousCaller, PersonCaller, ServiceCaller } from '../access/index.ts'

/** Whether a service token may call an endpoint. An endpoint for people accepts no service token. */
export function hasScope(endpoint: Endpoint, { scopes }: Pick<ServiceCaller, 'scopes'>): boolean {
  const { who } = endpoint
  return who.kind === 'service' && permits(scopes, { scope: who.scope, isRead: readsOnly(endpoint) })
}

/**
 * Rejects a caller whose role or scopes, as read from the database, do not suffice for an endpoint.
 *
 * @throws Problem role-required, insufficient-scope
 */
export function refuseTooLittleRight(
  endpoint: Endpoint,
  caller: PersonCaller | ServiceCaller | AnonymousCaller,
): void {
  const { who } = endpoint
  if (who.kind === 'dashboard' && caller.kind === 'dashboard' && !roleAtLeast(caller.role, who.role)) {
    throw problem('role-required', `This needs the role ${who.role}; you are ${caller.role}.`)
  }
  if (who.kind === 'service' && caller.kind === 'service' && !hasScope(endpoint, caller)) {
    const held = caller.scopes.length === 0 ? 'no scope' : caller.scopes.join(' ')
    throw problem(
      'insufficient-scope',
      `This needs a service token with the scope ${who.scope}; this token has ${held}.`,
      { headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${who.scope}"` } },
    )
  }
}
