/**
 * The scopes of service tokens, in the order in which they are saved and shown. A token may have several, as a
 * space-separated list (RFC 6749 section 3.3).
 */
export const tokenScopes = {
  'integrations:write': {
    title: 'Bookings and reads',
    permits:
      'Send shipment updates, one at a time or in bulk, and read everything that the scope read permits.',
  },
  'quotes:write': {
    title: 'Quotes',
    permits: 'Send quotes, outcomes, market rates and files of market rates. No reads.',
  },
  'imports:write': {
    title: 'Imports',
    permits: 'Send CSV imports and follow their progress. No other reads, and not the imports of people.',
  },
  read: {
    title: 'Reads',
    permits: 'Read everything under /api/integrations, and use /mcp. No writes.',
  },
} as const satisfies Record<string, { title: string; permits: string }>

export type TokenScope = keyof typeof tokenScopes

export const tokenScopeNames = Object.keys(tokenScopes) as readonly TokenScope[]

/** The scope of a token that was created without one, as the interface specifies. */
export const defaultScope = 'integrations:write' satisfies TokenScope

/** Each of these permits every read. */
export const readingScopes: readonly TokenScope[] = ['integrations:write', 'read']

/**
 * The known scopes in a saved list, in the fixed order. Unknown words grant nothing.
 *
 * @example scopesIn('read imports:write') // ['imports:write', 'read']
 */
export function scopesIn(list: string): TokenScope[] {
  const words = new Set(list.split(' '))
  return tokenScopeNames.filter((name) => words.has(name))
}

/**
 * Whether a token with these scopes may call an endpoint that needs `scope`. Every read is also permitted by the scopes
 * that permit all reads.
 */
export function permits(
  scopes: readonly TokenScope[],
  { scope, isRead }: { readonly scope: TokenScope; readonly isRead: boolean },
): boolean {
  return scopes.includes(scope) || (isRead && readingScopes.some((reading) => scopes.includes(reading)))
}
