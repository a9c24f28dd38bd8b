import type { Role } from './roles.ts'

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
  approvals: '/approvals',
  lane: '/lane',
  market: '/market',
  customers: '/customers',
  results: '/results',
  rules: '/rules',
  settings: '/settings',
  account: '/settings/account',
  team: '/settings/people',
  fuel: '/settings/fuel',
  marketRates: '/settings/market',
  imports: '/settings/imports',
  integration: '/settings/developers',
  audit: '/settings/audit',
  signIn: '/sign-in',
  signUp: '/sign-up',
  invitation: '/invitation',
} as const

/** The names of the pages: headings, and links between the pages of one place. */
export const pageNames = {
  [pagePaths.desk]: 'Quote desk',
  [pagePaths.quotes]: 'Quotes',
  [pagePaths.shipments]: 'Shipments',
  [pagePaths.approvals]: 'Approvals',
  [pagePaths.lane]: 'Lanes',
  [pagePaths.market]: 'Market',
  [pagePaths.customers]: 'Customers',
  [pagePaths.results]: 'Results',
  [pagePaths.rules]: 'Pricing rules',
  [pagePaths.settings]: 'Company',
  [pagePaths.account]: 'Your account',
  [pagePaths.team]: 'People and teams',
  [pagePaths.fuel]: 'Fuel and currency',
  [pagePaths.marketRates]: 'Market sources',
  [pagePaths.imports]: 'Import and export',
  [pagePaths.integration]: 'Developers',
  [pagePaths.audit]: 'Audit log',
  [pagePaths.start]: 'Get started',
} as const

export type NamedPage = keyof typeof pageNames

/** A place in the menu: a page, or several pages with links between them. */
export interface Place {
  readonly label: string
  /** The role that sees the place in the menu. Its pages may be open to lower roles. */
  readonly needs: Role
  /** The first page is the one that the menu opens. */
  readonly pages: readonly { readonly path: NamedPage; readonly needs: Role }[]
}

const forAll = (...paths: readonly NamedPage[]) => paths.map((path) => ({ path, needs: 'viewer' }) as const)

/** The menu. Places that only admins see are at the end, so that no link moves when the role is known. */
export const places: readonly Place[] = [
  { label: 'Quote', needs: 'viewer', pages: forAll(pagePaths.desk) },
  { label: 'Quotes', needs: 'viewer', pages: forAll(pagePaths.quotes, pagePaths.shipments) },
  { label: 'Approvals', needs: 'viewer', pages: forAll(pagePaths.approvals) },
  { label: 'Lanes', needs: 'viewer', pages: forAll(pagePaths.lane, pagePaths.market) },
  { label: 'Customers', needs: 'viewer', pages: forAll(pagePaths.customers) },
  { label: 'Results', needs: 'viewer', pages: forAll(pagePaths.results) },
  { label: 'Pricing rules', needs: 'admin', pages: forAll(pagePaths.rules) },
  {
    label: 'Settings',
    needs: 'admin',
    pages: [
      ...forAll(
        pagePaths.settings,
        pagePaths.account,
        pagePaths.team,
        pagePaths.fuel,
        pagePaths.marketRates,
        pagePaths.imports,
      ),
      { path: pagePaths.integration, needs: 'admin' },
      { path: pagePaths.audit, needs: 'admin' },
    ],
  },
]

/** Whether a page, or a page below it, has this address. */
export function isAt(page: string, path: string): boolean {
  return (
    path === page || (page !== pagePaths.desk && page !== pagePaths.settings && path.startsWith(`${page}/`))
  )
}

/** The place with the page of an address; undefined for a page outside the menu. */
export function placeOf(path: string): Place | undefined {
  return places.find(({ pages }) => pages.some((page) => isAt(page.path, path)))
}

/** Addresses of earlier versions, with the value of `view` that they need, and the pages that took their place. */
export const movedPages: readonly { readonly from: string; readonly view?: string; readonly to: string }[] = [
  { from: '/performance', to: pagePaths.results },
  { from: '/team', to: pagePaths.team },
  { from: '/imports', to: pagePaths.imports },
  { from: '/integration', to: pagePaths.integration },
  { from: '/audit', to: pagePaths.audit },
  { from: '/settings', view: 'fuel', to: pagePaths.fuel },
  { from: '/rules', view: 'approvals', to: pagePaths.approvals },
  { from: '/market', view: 'rates', to: pagePaths.marketRates },
]
