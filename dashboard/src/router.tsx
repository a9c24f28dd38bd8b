import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'
import { CallFailed, reachService } from './call.ts'
import { NoSuchPage } from './pages/no-such-page.tsx'
import { Failed, Loading } from './parts/states.tsx'
import { sessionQuery } from './session.tsx'
import { Shell } from './shell.tsx'

/** Words of an address's query, as they are written: a number stays text until a page reads it. */
type Search = Readonly<Record<string, string>>

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NoSuchPage,
  validateSearch: (search: Record<string, unknown>): Search => {
    const words = Object.entries(search).filter(([, value]) => value !== undefined && value !== null)
    return Object.fromEntries(words.map(([name, value]) => [name, String(value)]))
  },
})

/** Every page for people who are signed in; the others are led to the sign-in and back. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queries.ensureQueryData(sessionQuery)
    } catch (error) {
      if (error instanceof CallFailed && error.status === 401) {
        throw redirect({ to: pagePaths.signIn, search: location.href === '/' ? {} : { next: location.href } })
      }
      throw error
    }
  },
  errorComponent: ({ error, reset }) => (
    <main style={{ padding: '2rem', maxWidth: 640, margin: '0 auto' }}>
      <Failed
        error={error}
        retry={() => {
          reset()
          window.location.reload()
        }}
      />
    </main>
  ),
})

/** A path with its `{names}` as the router writes them. */
type RouterPath<Path extends string> = Path extends `${infer Before}{${infer Name}}${infer After}`
  ? `${Before}$${Name}${RouterPath<After>}`
  : Path
const page = <const Path extends string>(path: Path) =>
  path.replaceAll(/\{(\w+)\}/g, '$$$1') as RouterPath<Path>

/**
 * The program of a page, fetched when somebody goes there. The router loads everything anew when it is not there any more,
 * as after an update; without a connection that would put the browser's own page in the place of this one.
 */
const fetched =
  <Program,>(fetchProgram: () => Promise<Program>) =>
  () =>
    fetchProgram().catch(async (failure: unknown) => {
      await reachService()
      throw failure
    })

const desk = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.desk,
  component: lazyRouteComponent(fetched(() => import('./pages/quote-desk.tsx'))),
})
const start = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.start,
  component: lazyRouteComponent(fetched(() => import('./pages/first-steps.tsx'))),
})
const quotes = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.quotes,
  component: lazyRouteComponent(fetched(() => import('./pages/quotes.tsx'))),
})
const quote = createRoute({
  getParentRoute: () => signedIn,
  path: page(pagePaths.quote),
  component: lazyRouteComponent(fetched(() => import('./pages/quote.tsx'))),
})
const shipments = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.shipments,
  component: lazyRouteComponent(fetched(() => import('./pages/shipments.tsx'))),
})
const lane = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.lane,
  component: lazyRouteComponent(fetched(() => import('./pages/lane.tsx'))),
})
const performance = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.performance,
  component: lazyRouteComponent(fetched(() => import('./pages/performance.tsx'))),
})
const integration = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.integration,
  component: lazyRouteComponent(fetched(() => import('./pages/integration.tsx'))),
})
const imports = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.imports,
  component: lazyRouteComponent(fetched(() => import('./pages/imports.tsx'))),
})
const team = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.team,
  component: lazyRouteComponent(fetched(() => import('./pages/team.tsx'))),
})
const audit = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.audit,
  component: lazyRouteComponent(fetched(() => import('./pages/audit.tsx'))),
})
const settings = createRoute({
  getParentRoute: () => signedIn,
  path: pagePaths.settings,
  component: lazyRouteComponent(fetched(() => import('./pages/settings.tsx'))),
})
const signIn = createRoute({
  getParentRoute: () => root,
  path: pagePaths.signIn,
  component: lazyRouteComponent(fetched(() => import('./pages/sign-in.tsx'))),
})
const signUp = createRoute({
  getParentRoute: () => root,
  path: pagePaths.signUp,
  component: lazyRouteComponent(fetched(() => import('./pages/sign-up.tsx'))),
})
const invitation = createRoute({
  getParentRoute: () => root,
  path: pagePaths.invitation,
  component: lazyRouteComponent(fetched(() => import('./pages/invitation.tsx'))),
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
      performance,
      integration,
      imports,
      team,
      audit,
      settings,
    ]),
    signIn,
    signUp,
    invitation,
  ]),
  context: { queries: undefined as unknown as QueryClient },
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Loading label="Loading the page" />,
  // Queries are plain words, as people read and write addresses: nothing in them is taken for JSON.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const words = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(words.map(([name, value]) => [name, String(value)])).toString()
    return text === '' ? '' : `?${text}`
  },
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
