import { Anchor, Button, type ButtonProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { type AddressParams, paramsWithValue } from './address.ts'

interface Target {
  readonly to: string
  /** The query parameters. Empty ones are removed. */
  readonly query?: AddressParams
  readonly hash?: string
  /** For links within a page: replaces the history entry and keeps the scroll position. */
  readonly stays?: boolean
}

function routed({ to, query = {}, hash, stays = false }: Target) {
  return (props: object) => (
    <Link
      {...props}
      to={to}
      search={() => paramsWithValue(query) as never}
      // A link is marked as current only if its full address, with query and hash, is the current one.
      activeOptions={{ exact: true, includeHash: true }}
      {...(hash === undefined ? {} : { hash })}
      {...(stays ? { replace: true, resetScroll: false } : {})}
    />
  )
}

/**
 * A link in a text, underlined so that color is not the only difference from the text around it.
 *
 * @param label the link's name for screen readers, where several links have the same text
 * @example <TextLink to={pagePaths.quotes} query={{ customer: 'Harvest Table Foods' }}>Quotes</TextLink>
 */
export function TextLink({
  label,
  tabIndex,
  children,
  ...target
}: Target & { label?: string; tabIndex?: 0 | -1; children: ReactNode }) {
  return (
    <Anchor inherit aria-label={label} tabIndex={tabIndex} renderRoot={routed(target)}>
      {children}
    </Anchor>
  )
}

/** A link that looks like a button. */
export function ButtonLink({
  to,
  query,
  hash,
  stays,
  isHere = false,
  children,
  ...look
}: Target & ButtonProps & { isHere?: boolean; children: ReactNode }) {
  const target: Target = {
    to,
    ...(query === undefined ? {} : { query }),
    ...(hash === undefined ? {} : { hash }),
    ...(stays === undefined ? {} : { stays }),
  }
  return (
    <Button {...look} aria-current={isHere ? 'page' : undefined} renderRoot={routed(target)}>
      {children}
    </Button>
  )
}

/** The name of a customer, which opens its page. A name that was merged opens the page of the customer that it counts for. */
export function CustomerLink({ name, tabIndex }: { name: string; tabIndex?: 0 | -1 }) {
  return (
    <TextLink to={pagePaths.customers} query={{ name }} {...(tabIndex === undefined ? {} : { tabIndex })}>
      {name}
    </TextLink>
  )
}
