import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Lane } from '#contract/lane.ts'
import { pagePaths } from '#contract/pages.ts'

/** Renders a Mantine button, menu item or anchor as a router link (`renderRoot`) with typed parameters. */
type AsLink = (props: Record<string, unknown>) => ReactNode

/** @example <Button renderRoot={asLinkToQuote('48211093754-1-1')}>Open</Button> */
export function asLinkToQuote(laneRef: string): AsLink {
  return (props) => <Link {...props} to="/quotes/$lane_ref" params={{ lane_ref: laneRef }} />
}

export function asLinkToQuotes(view: Readonly<Record<string, string>>): AsLink {
  return (props) => <Link {...props} to={pagePaths.quotes} search={view} />
}

type LaneOfQuote = Pick<Lane, 'origin' | 'destination' | 'equipment' | 'rate_type'>

/** The lane of a quote, as parameters of the lane page: with the rate type that the quote says, because the page is about one type. */
export function laneParams({
  origin,
  destination,
  equipment,
  rate_type,
}: LaneOfQuote): Record<string, string> {
  return { origin, destination, equipment, ...(rate_type === null ? {} : { rate_type }) }
}

export function asLinkToLane(lane: LaneOfQuote): AsLink {
  return (props) => <Link {...props} to={pagePaths.lane} search={laneParams(lane)} />
}
