/**
 * The addresses of the dashboard's pages. The service answers each with the application, and the application draws what
 * is there; `{names}` stand for one part of the address.
 *
 * What an address needs beside its path travels as its query, and secrets (an invitation) in the part after `#`, which
 * browsers send to nobody.
 */
export const pagePaths = {
  desk: '/',
  start: '/start',
  quotes: '/quotes',
  quote: '/quotes/{lane_ref}',
  shipments: '/shipments',
  lane: '/lane',
  performance: '/performance',
  integration: '/integration',
  imports: '/imports',
  team: '/team',
  audit: '/audit',
  settings: '/settings',
  signIn: '/sign-in',
  signUp: '/sign-up',
  invitation: '/invitation',
} as const
