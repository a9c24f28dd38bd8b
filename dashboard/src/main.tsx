import './styles.ts'
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { CallFailed, storeSession } from './api/index.ts'
import { router } from './router.tsx'
import { followPerson, Notices } from './shared-ui/index.ts'
import { readableColors, theme } from './theme.ts'

const nonce = document.querySelector('meta[name="style-nonce"]')?.getAttribute('content') ?? ''
setNonce(nonce)

const longWaitSeconds = 5

/** True when Retry-After is longer than a user should look at a spinner. The page then shows the wait and a retry button. */
function isLongWait({ retryAfterSeconds }: CallFailed): boolean {
  return retryAfterSeconds !== null && retryAfterSeconds > longWaitSeconds
}

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Without a connection, a call fails with a message. By default it would wait silently for a connection.
      networkMode: 'always',
      // By default, networkMode 'always' does not repeat a failed call when the connection is back.
      refetchOnReconnect: true,
      // Temporary failures are retried after the service's Retry-After. All other failures are shown at once.
      retry: (failures, error) =>
        error instanceof CallFailed && error.isTemporary && !isLongWait(error) && failures < 2,
      retryDelay: (failures, error) =>
        error instanceof CallFailed && error.retryAfterSeconds !== null
          ? error.retryAfterSeconds * 1000
          : 500 * 2 ** failures,
    },
    mutations: {
      networkMode: 'always',
      // A call rejected by the rate limit had no effect, so it is safe to retry. All other failures are shown.
      retry: (failures, error) =>
        error instanceof CallFailed && error.code === 'quota-exceeded' && !isLongWait(error) && failures < 2,
      retryDelay: (_failures, error) =>
        error instanceof CallFailed ? (error.retryAfterSeconds ?? 1) * 1000 : 1000,
    },
  },
})

storeSession(queries)
askAgainTogether(queries)

const mount = document.getElementById('dashboard')
if (mount === null) throw new Error('The page has no #dashboard element.')
removeOutline(mount)
followPerson(router.history)
createRoot(mount).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={readableColors}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <Notices>
          <RouterProvider router={router} context={{ queries }} />
        </Notices>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)

/**
 * After a successful call, repeats the page's other calls that failed for a temporary reason, so that one click on retry is enough
 * for several sections. A call that must wait for its Retry-After is not repeated.
 */
function askAgainTogether(asked: QueryClient): void {
  asked.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'success') return
    const { queryKey } = event.query
    void asked.refetchQueries({
      type: 'active',
      predicate: ({ state, queryKey: other }) =>
        other !== queryKey &&
        state.status === 'error' &&
        state.fetchStatus === 'idle' &&
        state.error instanceof CallFailed &&
        state.error.isTemporary &&
        state.errorUpdatedAt + (state.error.retryAfterSeconds ?? 0) * 1000 <= Date.now(),
    })
  })
}

/**
 * Removes the outline that the service sent with the page, as soon as the page below it has a heading or a message. If the outline
 * has no heading, the frame of the page is enough.
 */
function removeOutline(drawn: HTMLElement): void {
  const outline = document.getElementById('outline')
  if (outline === null) return
  const hasHeading = outline.querySelector('.outline-heading') !== null
  const awaited = hasHeading ? 'h1, [role="alert"], [role="dialog"]' : 'h1, [role="alert"], main'
  const observer = new MutationObserver(() => {
    if (drawn.querySelector(awaited) === null) return
    observer.disconnect()
    outline.remove()
  })
  observer.observe(drawn, { childList: true, subtree: true })
}
