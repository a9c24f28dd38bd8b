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
  customers: '/customers',
  market: '/market',
  rules: '/rules',
  integration: '/integration',
  imports: '/imports',
  team: '/team',
  audit: '/audit',
  settings: '/settings',
  signIn: '/sign-in',
  signUp: '/sign-up',
  invitation: '/invitation',
} as const

/** The names of the pages in the menu: labels there, and headings while a page loads. */
export const pageNames = {
  [pagePaths.desk]: 'Quote desk',
  [pagePaths.quotes]: 'Quotes',
  [pagePaths.shipments]: 'Shipments',
  [pagePaths.lane]: 'Lanes',
  [pagePaths.performance]: 'Performance',
  [pagePaths.customers]: 'Customers',
  [pagePaths.market]: 'Market',
  [pagePaths.rules]: 'Rules',
  [pagePaths.imports]: 'Import',
  [pagePaths.team]: 'Team',
  [pagePaths.settings]: 'Settings',
  [pagePaths.integration]: 'Integration',
  [pagePaths.audit]: 'Audit log',
  [pagePaths.start]: 'Get started',
} as const
