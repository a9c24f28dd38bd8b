import { useNavigate, useSearch } from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'

/** A credential created during this visit. Its plaintext is only in memory, never in storage or in an address. */
interface NewCredential {
  readonly id: number
  readonly plaintext: string
}

export interface NewCredentials {
  readonly token: NewCredential | null
  readonly secret: NewCredential | null
}

export const noNewCredentials: NewCredentials = { token: null, secret: null }

/** The props of sections that create or show credentials. */
export interface NewCredentialsProps {
  readonly newCredentials: NewCredentials
  readonly setNewCredentials: (change: (newCredentials: NewCredentials) => NewCredentials) => void
}

export type AddressParams = Readonly<Record<string, string | undefined>>

/**
 * The query parameters of the page's address, and a function that changes them. `afresh` drops all other parameters.
 *
 * @example const { params, go } = useIntegrationAddress(); go({ outcome: 'refused', before: undefined })
 */
export function useIntegrationAddress(): {
  readonly params: AddressParams
  go: (change: AddressParams, options?: { afresh?: boolean }) => void
} {
  const params: AddressParams = useSearch({ strict: false })
  const navigate = useNavigate()
  return {
    params,
    go: (change, { afresh = false } = {}) => {
      const entries = Object.entries(afresh ? change : { ...params, ...change })
      const search = Object.fromEntries(entries.flatMap(([name, value]) => (value ? [[name, value]] : [])))
      void navigate({ to: pagePaths.integration, search, resetScroll: false })
    },
  }
}
