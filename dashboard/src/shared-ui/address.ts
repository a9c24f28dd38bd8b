import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

export type AddressWords = Readonly<Record<string, string | undefined>>

/**
 * What a page keeps in its address, and a way to change some of it. A changed word leads to the first page again; a
 * word without a value leaves the address.
 *
 * @param path the page's own path, without its query
 * @param options.replace typing replaces the address, so that the way back is not a way through every letter
 */
export function useAddress(path: string) {
  const search: AddressWords = useSearch({ strict: false })
  const navigate = useNavigate()
  const change = useCallback(
    (words: AddressWords, options: { replace?: boolean } = {}) =>
      void navigate({
        to: path,
        search: (before: AddressWords) =>
          wordsWithValue({ ...before, cursor: undefined, page: undefined, ...words }),
        replace: options.replace ?? false,
        resetScroll: false,
      }),
    [navigate, path],
  )
  return { search, change }
}

/** The words of an address that say something. */
export function wordsWithValue(words: AddressWords): Record<string, string> {
  return Object.fromEntries(
    Object.entries(words).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, value] as const],
    ),
  )
}
