/**
 * The paths of the dashboard's pages. The service returns the single-page application for each path, and the
 * application renders the page. `{names}` are placeholders for one path segment.
 *
 * Further parameters are in the query string. Secrets (an invitation) are in the fragment after `#`, which browsers
 * never send to a server.
 */
export const pagePaths = {
  desk: '/',
  start: '/start',
  quotes: '/quotes',
  quote: '/quotes/{lane_ref}',
  shipments: '/shipments',
  lane: '/lane',
  performance: '/performance',
  market: '/market',
  integration: '/integration',
  imports: '/imports',
  team: '/team',
  audit: '/audit',
  settings: '/settings',
  signIn: '/sign-in',
  signUp: '/sign-up',
  invitation: '/invitation',
} as const
