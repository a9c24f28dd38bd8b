import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { pagePaths } from '#contract/pages.ts'
import type { LanePoint } from './lane-evidence.ts'

/** The words of a lane page's address: which lane, which rate, and which of its quotes are looked at. */
export type LaneAddress = {
  readonly origin?: string
  readonly destination?: string
  readonly equipment?: string
  readonly rate?: string
  readonly outcome?: string
  readonly month?: string
  readonly rate_from?: string
  readonly rate_to?: string
  /** Quotes of the last so many days. */
  readonly days?: string
  readonly sort?: string
  readonly page?: string
}

/** A change of the address: a word that is undefined is taken out. */
export type AddressChange = { readonly [Word in keyof LaneAddress]?: LaneAddress[Word] | undefined }

/** The address of this page, and a way to change some words of it without a new entry in the browser's history. */
export function useLaneAddress(): { address: LaneAddress; change: (change: AddressChange) => void } {
  const address = useSearch({ strict: false }) as LaneAddress
  const navigate = useNavigate()
  const change = useCallback(
    (words: AddressChange) =>
      void navigate({
        to: pagePaths.lane,
        search: (before) => changed(before as LaneAddress, words),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  )
  return { address, change }
}

/** An address with some words changed. @example changed({ page: '2' }, { page: undefined }) // {} */
export function changed(address: LaneAddress, words: AddressChange): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ ...address, ...words }).filter(([, value]) => value !== undefined && value !== ''),
  ) as Record<string, string>
}

/** The lane alone: what is left of an address when all that was chosen on the page is put aside. */
export function laneOf({ origin, destination, equipment }: LaneAddress): LaneAddress {
  return {
    ...(origin === undefined ? {} : { origin }),
    ...(destination === undefined ? {} : { destination }),
    ...(equipment === undefined || equipment === '' ? {} : { equipment }),
  }
}

/** Words that choose among the quotes of the lane. */
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

/** Whether a quote is among the chosen. */
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
