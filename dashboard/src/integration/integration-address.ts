import { useNavigate, useSearch } from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'

/** A credential whose plaintext was made in this visit. Kept in memory only: never in storage, never in an address. */
interface HeldCredential {
  readonly id: number
  readonly plaintext: string
}

export interface HeldCredentials {
  readonly token: HeldCredential | null
  readonly secret: HeldCredential | null
}

export const nothingHeld: HeldCredentials = { token: null, secret: null }

/** What the sections of the page that make or show credentials are handed. */
export interface HoldsCredentials {
  readonly held: HeldCredentials
  readonly setHeld: (change: (held: HeldCredentials) => HeldCredentials) => void
}

export type AddressWords = Readonly<Record<string, string | undefined>>

/**
 * What the page's address says after the question mark, and the way to say something else there.
 *
 * @example const { words, go } = useIntegrationAddress(); go({ outcome: 'refused', before: undefined })
 */
export function useIntegrationAddress(): {
  readonly words: AddressWords
  go: (change: AddressWords, options?: { afresh?: boolean }) => void
} {
  const words: AddressWords = useSearch({ strict: false })
  const navigate = useNavigate()
  return {
    words,
    go: (change, { afresh = false } = {}) => {
      const said = Object.entries(afresh ? change : { ...words, ...change })
      const search = Object.fromEntries(said.flatMap(([name, value]) => (value ? [[name, value]] : [])))
      void navigate({ to: pagePaths.integration, search, resetScroll: false })
    },
  }
}
