import { useDebouncedValue } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { typingPauseMs } from '#client/debounce.ts'
import { type Answer, type Body, CallFailed, call, useAnswer } from '../api/index.ts'
import { converted, readDollars, termsBody } from '../shared-ui/index.ts'
import { changedInWords, deskAppraisal } from './desk-appraisal.ts'
import { type DeskLane, type Draft, hasState, lanesToSave, rateTypeOf } from './desk-draft.ts'

type AskedLane = Body<'advise-lanes'>['lanes'][number]
type Result = Answer<'advise-lanes'>['results'][number]
export type RowAdvice = Extract<Result, { status: 200 }>

/** A row as the request for advice; null while its places are incomplete. */
function askedOf(lane: DeskLane): AskedLane | null {
  const { origin, destination, equipment, rate, cost } = lane
  if (!hasState(origin) || !hasState(destination)) return null
  const [code, quotedRate, typedCost] = [equipment.trim(), readDollars(rate), readDollars(cost)]
  return {
    origin: origin.trim(),
    destination: destination.trim(),
    ...(code === '' ? {} : { equipment: code }),
    ...(quotedRate === null ? {} : { quoted_rate: quotedRate }),
    ...(typedCost === null ? {} : { estimated_cost: typedCost }),
    ...rateTypeOf(lane),
    ...termsBody(lane),
  }
}

const customerOf = (name: string) => (name === '' ? {} : { customer: name })

const noResults: ReadonlyMap<string, RowAdvice> = new Map()

/**
 * The advice for each row, by its number in the draft, from one request for all rows after a pause in typing. A row whose
 * fields changed since has no advice until the next answer; the other rows keep theirs.
 */
export function useLanesAdvice(
  { lanes, customer }: Pick<Draft, 'lanes' | 'customer'>,
  isNeeded: boolean,
): (lane: DeskLane) => RowAdvice | null {
  const asked = [...new Set(lanes.map((lane) => JSON.stringify(askedOf(lane))))].filter(
    (one) => one !== 'null',
  )
  const [settled] = useDebouncedValue(JSON.stringify(asked), typingPauseMs)
  const keys = JSON.parse(settled) as string[]
  const [named] = useDebouncedValue(customer.trim(), typingPauseMs)
  const body = { ...customerOf(named), lanes: keys.map((key) => JSON.parse(key) as AskedLane) }
  const { data } = useAnswer(
    'advise-lanes',
    { body },
    { enabled: isNeeded && keys.length > 0, staleMs: 10_000, comesBack: true },
  )
  const [results, setResults] = useState(noResults)
  useEffect(() => {
    if (data === undefined) return
    const answered = JSON.parse(settled) as string[]
    setResults(
      new Map(
        data.results.flatMap((result) =>
          result.status === 200 ? [[answered[result.index] ?? '', result] as const] : [],
        ),
      ),
    )
  }, [data, settled])
  return (lane) => results.get(JSON.stringify(askedOf(lane))) ?? null
}

/** A rate to confirm before it is saved. */
export interface RateToConfirm {
  readonly lane: DeskLane
  readonly reasons: readonly string[]
}

/** How long saving waits for the check of the rates. */
const checkWaitMs = 6_000

/** What is known about the rates of a draft before it is saved. */
export interface CheckedRates {
  readonly toConfirm: readonly RateToConfirm[]
  /** True when the service did not check the rates in time. Then nobody knows whether there are rates to confirm. */
  readonly isUnchecked: boolean
}

const nothingToCheck: CheckedRates = { toConfirm: [], isUnchecked: false }

/** Whether a check failed for a reason that may not affect the save. Without a connection, the save fails, too. */
function maySucceedUnchecked(error: unknown): boolean {
  return error instanceof CallFailed ? error.isTemporary && error.code !== 'offline' : true
}

/** Checks the rates of a draft before it is saved. After a failure it tries again until the wait is over. */
export function useRateCheck(): (draft: Draft) => Promise<CheckedRates> {
  const queries = useQueryClient()
  return async (draft) => {
    const lanes = lanesToSave(draft).filter((lane) => askedOf(lane) !== null)
    if (lanes.length === 0) return nothingToCheck
    const body = {
      ...customerOf(draft.customer.trim()),
      lanes: lanes.map((lane) => askedOf(lane) as AskedLane),
    }
    const signal = AbortSignal.timeout(checkWaitMs)
    try {
      const { results } = await queries.fetchQuery({
        queryKey: ['advise-lanes', { body }],
        queryFn: () => call('advise-lanes', { body, signal }),
        staleTime: 60_000,
      })
      const answered = results.flatMap((result) => {
        const lane = lanes[result.index]
        return lane === undefined || result.status !== 200 ? [] : [{ lane, result }]
      })
      return {
        // What a rule refuses is not asked about here: the service refuses it, and the desk offers to ask for approval.
        toConfirm: answered.flatMap(({ lane, result: { warnings, outside_rules: refused } }) =>
          warnings.length === 0 || refused.length > 0
            ? []
            : [{ lane, reasons: warnings.map(({ detail }) => detail) }],
        ),
        isUnchecked: false,
      }
    } catch (error) {
      return { ...nothingToCheck, isUnchecked: maySucceedUnchecked(error) }
    }
  }
}

/**
 * The rate to quote on a row, in dollars, as for a single lane, with what the rules changed. Null if neither a best nor a going rate
 * is known. The answer has the typed cost, so the optimum is that of the service.
 */
export function bestRateOf(
  lane: Pick<DeskLane, 'cost'>,
  result: RowAdvice,
): { readonly rate: number; readonly changed: string } | null {
  const { optimum, estimate, rules } = result
  if (estimate === null) return null
  const appraisal = deskAppraisal({ optimum, estimate, rules }, comparedCost(lane, result))
  const { toQuote } = appraisal.rates
  return toQuote === null
    ? null
    : { rate: toQuote.rateCents / 100, changed: changedInWords(appraisal, toQuote) }
}

/** The entered cost on the terms of the brokerage; null without one, or if it cannot be converted. */
function comparedCost(
  { cost }: Pick<DeskLane, 'cost'>,
  { conversion }: Pick<RowAdvice, 'conversion'>,
): number | null {
  const typed = readDollars(cost)
  return typed === null || conversion === null ? null : converted(conversion, typed)
}

/** The margin of a row over the entered cost, or else over the expected one; null when neither is known. */
export function marginOf(
  lane: DeskLane,
  advice: Pick<RowAdvice, 'rate' | 'estimate' | 'conversion'>,
): number | null {
  const { rate, estimate, conversion } = advice
  if (conversion === null) return null
  const cost = comparedCost(lane, advice) ?? estimate?.expected_cost?.amount ?? null
  return rate === null || cost === null ? null : Math.round((rate - cost) * 100) / 100
}

/** The sums of the rows with a rate. A margin or worth is counted only where it is known. */
export interface LanesTotals {
  readonly rated: number
  /** In US dollars; null if an amount in Canadian dollars cannot be converted. */
  readonly rate: number | null
  readonly margin: number | null
  readonly marginPct: number | null
  readonly worth: number | null
  readonly withMargin: number
  readonly toCheck: number
}

export function totalsOf(
  rows: readonly { readonly lane: DeskLane; readonly advice: RowAdvice | null }[],
): LanesTotals {
  const rated = rows.flatMap(({ lane, advice }) => {
    const typed = readDollars(lane.rate)
    if (typed === null) return []
    const isOpen = lane.currency === 'CAD' && advice?.conversion == null
    const rate = advice?.conversion == null ? typed : converted(advice.conversion, typed)
    const margin = advice === null ? null : marginOf(lane, advice)
    return [
      {
        rate,
        isOpen,
        margin,
        worth: margin === null ? null : (advice?.estimate?.expected_margin ?? null),
        toCheck: (advice?.warnings.length ?? 0) > 0,
      },
    ]
  })
  const known = rated.filter(({ margin }) => margin !== null)
  const sum = (values: readonly (number | null)[]) =>
    values.reduce<number>((all, value) => all + (value ?? 0), 0)
  const margin = known.length === 0 ? null : sum(known.map((row) => row.margin))
  const ofKnown = sum(known.map(({ rate }) => rate))
  return {
    rated: rated.length,
    rate: rated.some(({ isOpen }) => isOpen) ? null : sum(rated.map(({ rate }) => rate)),
    margin,
    marginPct: margin === null || ofKnown === 0 ? null : (margin / ofKnown) * 100,
    worth: known.length === 0 ? null : sum(known.map(({ worth }) => worth)),
    withMargin: known.length,
    toCheck: rated.filter(({ toCheck }) => toCheck).length,
  }
}
