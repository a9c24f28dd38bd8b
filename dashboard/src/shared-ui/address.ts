import { type HistoryState, useRouter, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

export type AddressParams = Readonly<Record<string, string | undefined>>

interface OwnAddress {
  readonly search: AddressParams | ((before: AddressParams) => AddressParams)
  /** Replaces the history entry; used while typing, so that Back does not step through every letter. */
  readonly replace?: boolean
  readonly state?: HistoryState
}

/**
 * Returns a function that changes the address of one page while the person is on it. A page stays until the code of the next page
 * has loaded. Meanwhile, a change after a pause in typing, or after an answer, would undo the navigation.
 *
 * @example const goOn = useOwnAddress(pagePaths.quotes); goOn({ search: { q: 'acme' }, replace: true })
 */
export function useOwnAddress(path: string): (to: OwnAddress) => void {
  const router = useRouter()
  return useCallback(
    ({ replace = false, ...to }) => {
      if (router.history.location.pathname !== path) return
      void router.navigate({ to: path, replace, resetScroll: false, ...to } as never)
    },
    [router, path],
  )
}

/**
 * The query parameters of a page's address, and a function that changes some of them. Every change goes back to the first
 * page of the list. A parameter without a value is removed.
 *
 * @param path the page's path, without its query
 */
export function useAddress(path: string) {
  const search: AddressParams = useSearch({ strict: false })
  const goOn = useOwnAddress(path)
  const change = useCallback(
    (params: AddressParams, options: { replace?: boolean } = {}) =>
      goOn({
        search: (before) => paramsWithValue({ ...before, cursor: undefined, page: undefined, ...params }),
        ...options,
      }),
    [goOn],
  )
  return { search, change }
}

/** The query parameters that have a value. */
export function paramsWithValue(params: AddressParams): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, value] as const],
    ),
  )
}
