import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import type { Quote } from '#contract/quote.ts'
import type { AddressParams } from './address.ts'

/**
 * The parameters of the list of quotes for the quotes that a figure counts. A figure counts a load once, by its last offer.
 *
 * @example countedQuotes({ customer: 'Harvest Table Foods' }) // { customer: 'Harvest Table Foods', offers: 'last' }
 */
export const countedQuotes = (query: AddressParams): AddressParams => ({ ...query, offers: 'last' })

/** Renders a Mantine button, menu item or anchor as a router link (`renderRoot`) with typed parameters. */
type AsLink = (props: Record<string, unknown>) => ReactNode

/** @example <Button renderRoot={asLinkToQuote('48211093754-1-1')}>Open</Button> */
export function asLinkToQuote(laneRef: string): AsLink {
  return (props) => <Link {...props} to="/quotes/$lane_ref" params={{ lane_ref: laneRef }} />
}

export function asLinkToQuotes(view: Readonly<Record<string, string>>): AsLink {
  return (props) => <Link {...props} to={pagePaths.quotes} search={view} />
}

export function asLinkToLane({
  origin,
  destination,
  equipment,
}: Pick<Quote, 'origin' | 'destination' | 'equipment'>): AsLink {
  return (props) => <Link {...props} to={pagePaths.lane} search={{ origin, destination, equipment }} />
}
