import { useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { useOwnAddress } from '../shared-ui/index.ts'
import type { LanePoint } from './lane-evidence.ts'

/** The address parameters of the lane page: the lane, the rate, and the filters of its quotes. */
export type LaneAddress = {
  readonly origin?: string
  readonly destination?: string
  readonly equipment?: string
  /** spot or contract; absent for the default of the brokerage. */
  readonly rate_type?: string
  readonly rate?: string
  readonly outcome?: string
  readonly month?: string
  readonly rate_from?: string
  readonly rate_to?: string
  /** Only quotes of the last `days` days. */
  readonly days?: string
  readonly sort?: string
  readonly page?: string
}

/** A change of the address. Undefined parameters are removed. */
export type AddressChange = { readonly [Word in keyof LaneAddress]?: LaneAddress[Word] | undefined }

/** The address parameters, and a function that changes some of them without a new history entry. */
export function useLaneAddress(): { address: LaneAddress; change: (change: AddressChange) => void } {
  const address = useSearch({ strict: false }) as LaneAddress
  const goOn = useOwnAddress(pagePaths.lane)
  const change = useCallback(
    (params: AddressChange) =>
      goOn({ search: (before) => changed(before as LaneAddress, params), replace: true }),
    [goOn],
  )
  return { address, change }
}

/** Address parameters with some changed. @example changed({ page: '2' }, { page: undefined }) // {} */
export function changed(address: LaneAddress, params: AddressChange): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ ...address, ...params }).filter(([, value]) => value !== undefined && value !== ''),
  ) as Record<string, string>
}

/** Only the parameters that identify the lane. */
export function laneOf({ origin, destination, equipment, rate_type }: LaneAddress): LaneAddress {
  return {
    ...(origin === undefined ? {} : { origin }),
    ...(destination === undefined ? {} : { destination }),
    ...(equipment === undefined || equipment === '' ? {} : { equipment }),
    ...(rate_type === undefined || rate_type === '' ? {} : { rate_type }),
  }
}

/** The parameters that filter the quotes of the lane. */
export type Chosen = Pick<LaneAddress, 'outcome' | 'month' | 'rate_from' | 'rate_to' | 'days'>
export const nothingChosen: AddressChange = {
  outcome: undefined,
  month: undefined,
  rate_from: undefined,
  rate_to: undefined,
  days: undefined,
  page: undefined,
}

const dayMs = 86_400_000

/** True when a quote matches the filters. */
export function isChosen(point: LanePoint, chosen: Chosen, now: number): boolean {
  const { outcome, month, rate_from, rate_to, days } = chosen
  return (
    (outcome === undefined || point.outcome === outcome) &&
    (month === undefined || point.quoted_at.startsWith(month)) &&
    (rate_from === undefined || point.rate >= Number(rate_from)) &&
    (rate_to === undefined || point.rate <= Number(rate_to)) &&
    (days === undefined || now - Date.parse(point.quoted_at) < Number(days) * dayMs)
  )
}

/** The page of one quote. */
export function quotePath(laneRef: string): string {
  return pagePaths.quote.replace('{lane_ref}', encodeURIComponent(laneRef))
}
