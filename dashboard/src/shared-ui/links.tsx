import { Anchor, Button, type ButtonProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type AddressWords, wordsWithValue } from './address.ts'

interface Target {
  readonly to: string
  /** The words of the address's query; empty ones are left out. */
  readonly words?: AddressWords
  readonly hash?: string
  /** Within a page: the address changes where it stands, and the page stays where it is scrolled to. */
  readonly stays?: boolean
}

function routed({ to, words = {}, hash, stays = false }: Target) {
  return (props: object) => (
    <Link
      {...props}
      to={to}
      search={() => wordsWithValue(words) as never}
      // Only what leads to where one already is counts as the place one is at.
      activeOptions={{ exact: true, includeHash: true }}
      {...(hash === undefined ? {} : { hash })}
      {...(stays ? { replace: true, resetScroll: false } : {})}
    />
  )
}

/**
 * A link in a text, underlined: color alone would not tell it from the words around it.
 *
 * @param label what a screen reader says where the text alone does not tell links apart
 * @example <TextLink to={pagePaths.quotes} words={{ customer: 'Harvest Table Foods' }}>Quotes</TextLink>
 */
export function TextLink({ label, children, ...target }: Target & { label?: string; children: ReactNode }) {
  return (
    <Anchor inherit aria-label={label} renderRoot={routed(target)}>
      {children}
    </Anchor>
  )
}

/** A link that looks like a button. */
export function ButtonLink({
  to,
  words,
  hash,
  stays,
  isHere = false,
  children,
  ...look
}: Target & ButtonProps & { isHere?: boolean; children: ReactNode }) {
  const target: Target = {
    to,
    ...(words === undefined ? {} : { words }),
    ...(hash === undefined ? {} : { hash }),
    ...(stays === undefined ? {} : { stays }),
  }
  return (
    <Button {...look} aria-current={isHere ? 'page' : undefined} renderRoot={routed(target)}>
      {children}
    </Button>
  )
}
