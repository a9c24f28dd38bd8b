import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type AddressWords, wordsWithValue } from './address.ts'

/**
 * A link to another page of the dashboard, with what it is to show there.
 *
 * @example <LinkTo to={pagePaths.quotes} words={{ customer: 'Harvest Table Foods' }}>Quotes</LinkTo>
 */
export function LinkTo({
  to,
  words = {},
  label,
  children,
}: {
  to: string
  words?: AddressWords
  /** What a screen reader says where the text alone does not tell links apart. */
  label?: string
  children: ReactNode
}) {
  return (
    <Anchor
      inherit
      aria-label={label}
      renderRoot={(props) => <Link {...props} to={to} search={() => wordsWithValue(words)} />}
    >
      {children}
    </Anchor>
  )
}
