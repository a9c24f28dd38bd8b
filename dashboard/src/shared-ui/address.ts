import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

export type AddressParams = Readonly<Record<string, string | undefined>>

/**
 * The query parameters of a page's address, and a function that changes some of them. Every change goes back to the first
 * page of the list. A parameter without a value is removed.
 *
 * @param path the page's path, without its query
 * @param options.replace replaces the history entry; used while typing, so that Back does not step through every letter
 */
export function useAddress(path: string) {
  const search: AddressParams = useSearch({ strict: false })
  const navigate = useNavigate()
  const change = useCallback(
    (params: AddressParams, options: { replace?: boolean } = {}) =>
      void navigate({
        to: path,
        search: (before: AddressParams) =>
          paramsWithValue({ ...before, cursor: undefined, page: undefined, ...params }),
        replace: options.replace ?? false,
        resetScroll: false,
      }),
    [navigate, path],
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
