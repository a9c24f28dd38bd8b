import './styles.ts'
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { CallFailed } from './api/index.ts'
import { router } from './router.tsx'
import { Notices } from './shared-ui/index.ts'
import { readableColors, theme } from './theme.ts'

const nonce = document.querySelector('meta[name="style-nonce"]')?.getAttribute('content') ?? ''
setNonce(nonce)

const patienceSeconds = 5

/** Told to wait longer than a person looks at a spinner: the wait is told instead, with a button to try again. */
function isLongWait({ retryAfterSeconds }: CallFailed): boolean {
  return retryAfterSeconds !== null && retryAfterSeconds > patienceSeconds
}

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Without a connection a call fails and says so; it would else wait in silence until there is one again.
      networkMode: 'always',
      // Passing troubles are tried again, as late as the service asks for; anything else is told at once.
      retry: (failures, error) =>
        error instanceof CallFailed && error.isPassing && !isLongWait(error) && failures < 2,
      retryDelay: (failures, error) =>
        error instanceof CallFailed && error.retryAfterSeconds !== null
          ? error.retryAfterSeconds * 1000
          : 500 * 2 ** failures,
    },
    mutations: {
      networkMode: 'always',
      // Refused for the rate limit, nothing was done: it is sent again when there is room. Anything else is told.
      retry: (failures, error) =>
        error instanceof CallFailed && error.code === 'quota-exceeded' && !isLongWait(error) && failures < 2,
      retryDelay: (_failures, error) =>
        error instanceof CallFailed ? (error.retryAfterSeconds ?? 1) * 1000 : 1000,
    },
  },
})

const place = document.getElementById('dashboard')
if (place === null) throw new Error('The page has no place for the dashboard.')
createRoot(place).render(
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
