import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'
import { reachService, sessionQuery } from './api/index.ts'
import { Failed, Loading } from './shared-ui/index.ts'
import { NoSuchPage, Shell } from './shell/index.ts'

/** The query parameters of an address, as strings. Pages parse numbers themselves. */
type Search = Readonly<Record<string, string>>

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NoSuchPage,
  validateSearch: (search: Record<string, unknown>): Search => {
    const params = Object.entries(search).filter(([, value]) => value !== undefined && value !== null)
    return Object.fromEntries(params.map(([name, value]) => [name, String(value)]))
  },
})

/** The parent of all pages that need a session. The frame waits for the session while the code of the page loads. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: Shell,
  beforeLoad: ({ context }) => void context.queries.prefetchQuery(sessionQuery),
})

/** A contract path with `{name}` parameters in the router's form, `$name`. */
type RouterPath<Path extends string> = Path extends `${infer Before}{${infer Name}}${infer After}`
  ? `${Before}$${Name}${RouterPath<After>}`
  : Path
const page = <const Path extends string>(path: Path) =>
  path.replaceAll(/\{(\w+)\}/g, '$$$1') as RouterPath<Path>

/**
 * Loads the code of a page when the user opens the page. When loading fails, as after an update, the router reloads the
 * document. `reachService` throws first if there is no connection, because the reload would then show the browser's
 * error page.
 */
const fetched =
  <Code,>(fetchCode: () => Promise<Code>) =>
  () =>
    fetchCode().catch(async (failure: unknown) => {
      await reachService()
      throw failure
    })

const desk = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.desk,
  component: lazyRouteComponent(fetched(() => import('./quote-desk/index.ts'))),
})
const start = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.start,
  component: lazyRouteComponent(fetched(() => import('./first-steps/index.ts'))),
})
const quotes = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.quotes,
  component: lazyRouteComponent(
    fetched(() => import('./quotes/index.ts')),
    'QuotesPage',
  ),
})
const quote = createRoute({
  getParentRoute: () => signedIn,
  path: page(pagePaths.quote),
  component: lazyRouteComponent(
    fetched(() => import('./quotes/index.ts')),
    'QuotePage',
  ),
})
const shipments = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.shipments,
  component: lazyRouteComponent(fetched(() => import('./shipments/index.ts'))),
})
const lane = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.lane,
  component: lazyRouteComponent(fetched(() => import('./lane/index.ts'))),
})
const results = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.results,
  component: lazyRouteComponent(fetched(() => import('./performance/index.ts'))),
})
const customers = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.customers,
  component: lazyRouteComponent(fetched(() => import('./customers/index.ts'))),
})
const market = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.market,
  component: lazyRouteComponent(
    fetched(() => import('./market/index.ts')),
    'MarketPage',
  ),
})
const marketRates = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.marketRates,
  component: lazyRouteComponent(
    fetched(() => import('./market/index.ts')),
    'MarketSourcesPage',
  ),
})
const rules = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.rules,
  component: lazyRouteComponent(
    fetched(() => import('./rules/index.ts')),
    'RulesPage',
  ),
})
const approvals = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.approvals,
  component: lazyRouteComponent(
    fetched(() => import('./rules/index.ts')),
    'ApprovalsPage',
  ),
})
const integration = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.integration,
  component: lazyRouteComponent(fetched(() => import('./integration/index.ts'))),
})
const imports = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.imports,
  component: lazyRouteComponent(fetched(() => import('./imports/index.ts'))),
})
const team = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.team,
  component: lazyRouteComponent(fetched(() => import('./team/index.ts'))),
})
const audit = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.audit,
  component: lazyRouteComponent(fetched(() => import('./audit/index.ts'))),
})
const settings = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.settings,
  component: lazyRouteComponent(
    fetched(() => import('./settings/index.ts')),
    'CompanyPage',
  ),
})
const account = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.account,
  component: lazyRouteComponent(
    fetched(() => import('./settings/index.ts')),
    'AccountPage',
  ),
})
const fuel = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.fuel,
  component: lazyRouteComponent(
    fetched(() => import('./settings/index.ts')),
    'FuelPage',
  ),
})
const signIn = createRoute({
  getParentRoute: () => root,
  path: pagePaths.signIn,
  component: lazyRouteComponent(
    fetched(() => import('./sign-in/index.ts')),
    'SignInPage',
  ),
})
const signUp = createRoute({
  getParentRoute: () => root,
  path: pagePaths.signUp,
  component: lazyRouteComponent(
    fetched(() => import('./sign-in/index.ts')),
    'SignUpPage',
  ),
})
const invitation = createRoute({
  getParentRoute: () => root,
  path: pagePaths.invitation,
  component: lazyRouteComponent(
    fetched(() => import('./sign-in/index.ts')),
    'InvitationPage',
  ),
})

export const router = createRouter({
  routeTree: root.addChildren([
    signedIn.addChildren([
      desk,
      start,
      quotes,
      quote,
      shipments,
      lane,
      results,
      customers,
      market,
      marketRates,
      rules,
      approvals,
      integration,
      imports,
      team,
      audit,
      settings,
      account,
      fuel,
    ]),
    signIn,
    signUp,
    invitation,
  ]),
  context: { queries: undefined as unknown as QueryClient },
  defaultPreload: 'intent',
  defaultErrorComponent: ({ error, reset }) => (
    <Failed
      error={error}
      retry={() => {
        reset()
        window.location.reload()
      }}
    />
  ),
  defaultPendingComponent: () => <Loading label="Loading the page" />,
  // Query parameters are plain strings, not JSON, so that addresses stay readable.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const params = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(params.map(([name, value]) => [name, String(value)])).toString()
    return text === '' ? '' : `?${text}`
  },
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
