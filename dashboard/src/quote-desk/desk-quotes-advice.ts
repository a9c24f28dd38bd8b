import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { typingPauseMs } from '#client/debounce.ts'
import { type CallFailed, useAnswer, useSession } from '../api/index.ts'
import {
  adviceOn,
  converted,
  onOwnTerms,
  type PricedQuote,
  type QuoteAdvice,
  readDollars,
  reasonsToConfirm,
  useRateCheck,
} from '../shared-ui/index.ts'
import { deskAppraisal } from './desk-appraisal.ts'
import { type DeskQuote, type Draft, hasState, quotesToSave, sentQuote } from './desk-draft.ts'
import { missingOf } from './desk-terms.ts'

/** The facts of a row that its price depends on; null while its places are incomplete. */
function askedOf(quote: DeskQuote): PricedQuote | null {
  const { market_rate: _, pickup_date: __, ...facts } = sentQuote(quote)
  return hasState(quote.origin) && hasState(quote.destination) ? facts : null
}

const keyOf = (asked: PricedQuote | null, customer: string) => JSON.stringify([customer, asked])
/** What stays while a person tries rates and costs: the curve of the advice, its best rate and its conversion. */
const laneOf = (asked: PricedQuote | null) =>
  JSON.stringify(asked === null ? null : { ...asked, quoted_rate: null, estimated_cost: null })

interface ShownAdvice {
  readonly lane: string
  readonly result: QuoteAdvice
}

/** The advice on the rows of a draft. */
export interface QuotesAdvice {
  /** The advice on a row as it is typed; null until it has arrived. */
  readonly on: (quote: DeskQuote) => QuoteAdvice | null
  /** The advice on the open row with its curve, perhaps for an earlier rate, cost or customer. */
  readonly open: QuoteAdvice | null
  readonly updating: boolean
  readonly failure: CallFailed | null
  readonly retry: () => void
}

/** The advice on the rows, and the answer of the service that it is from. */
const noneShown: { readonly from: unknown; readonly rows: ReadonlyMap<string, ShownAdvice> } = {
  from: undefined,
  rows: new Map(),
}

/**
 * The advice on each row of a draft, from one request for all rows after a pause in typing. A row whose fields changed since has none
 * until the next answer; the other rows keep theirs.
 */
export function useQuotesAdvice(
  { lanes: quotes, customer }: Pick<Draft, 'lanes' | 'customer'>,
  openQuote: DeskQuote,
): QuotesAdvice {
  const name = customer.trim()
  const open = askedOf(openQuote)
  const rows = new Map(quotes.map((quote) => [keyOf(askedOf(quote), name), askedOf(quote)]))
  const asked = [...rows.values()].filter((row) => row !== null)
  const typed = JSON.stringify({ asked, name, open })
  const [settled] = useDebouncedValue(typed, typingPauseMs)
  const sent = JSON.parse(settled) as { asked: PricedQuote[]; name: string; open: PricedQuote | null }
  const { lanes, ...request } = adviceOn(sent.name, sent.asked)
  const openKey = keyOf(sent.open, sent.name)
  const withCurve = (row: PricedQuote | undefined) =>
    row !== undefined && keyOf(row, sent.name) === openKey ? { include: 'curve,risk' } : {}
  const body = { ...request, lanes: lanes.map((lane, at) => ({ ...lane, ...withCurve(sent.asked[at]) })) }
  const answer = useAnswer(
    'advise-quotes',
    { body },
    { enabled: sent.asked.length > 0, staleMs: 10_000, comesBack: true },
  )
  const { data } = answer
  const [shown, setShown] = useState(noneShown)
  useEffect(() => {
    if (data === undefined) return
    const answered = JSON.parse(settled) as typeof sent
    const rows = new Map(
      data.results.flatMap((result) => {
        const row = answered.asked[result.index]
        return result.status !== 200 || row === undefined
          ? []
          : [[keyOf(row, answered.name), { lane: laneOf(row), result }] as const]
      }),
    )
    setShown({ from: data, rows })
  }, [data, settled])
  const on = (quote: DeskQuote) => shown.rows.get(keyOf(askedOf(quote), name))?.result ?? null
  const ofLane = [...shown.rows.values()].filter(
    ({ lane, result }) => lane === laneOf(open) && result.curve !== undefined,
  )
  const exact = on(openQuote)
  return {
    on,
    open: exact?.curve === undefined ? (ofLane[0]?.result ?? null) : exact,
    updating:
      open !== null && (typed !== settled || (data === undefined ? !answer.isError : shown.from !== data)),
    failure: open === null || typed !== settled ? null : answer.error,
    retry: () => void answer.refetch(),
  }
}

/** A rate to confirm before it is saved. */
export interface RateToConfirm {
  readonly lane: DeskQuote
  readonly reasons: readonly string[]
}

/** The result of checking a draft's rates before the save. */
export interface CheckedRates {
  readonly toConfirm: readonly RateToConfirm[]
  /** True when the service did not check the rates in time. Then nobody knows whether there are rates to confirm. */
  readonly isUnchecked: boolean
  /** The advice that the rates were checked by, by the number of the quote in the draft. The save returns it. */
  readonly advice: ReadonlyMap<number, string>
}

/**
 * Checks the rates of a draft before it is saved: by the advice that the desk shows, so that the numbers that a person saw are those that
 * are checked. Rows without advice are asked about now, and all of them if the advice shown is too old (`isStale`).
 */
export function useDraftCheck(
  { on }: QuotesAdvice,
  isStale: boolean,
): (draft: Draft) => Promise<CheckedRates> {
  const check = useRateCheck()
  const { default_basis: assumed } = useSession().tenant
  return async (draft) => {
    const rows = quotesToSave(draft).flatMap((quote) => {
      const asked = askedOf(quote)
      return asked === null ? [] : [{ lane: quote, asked, shown: isStale ? null : on(quote) }]
    })
    const open = rows.filter(({ shown }) => shown === null)
    const { results, isUnchecked } =
      open.length === 0
        ? { results: [], isUnchecked: false }
        : await check(
            adviceOn(
              draft.customer,
              open.map(({ asked }) => asked),
            ),
          )
    const checked = rows.map(({ lane, shown }) => ({
      lane,
      result: shown ?? results.find(({ index }) => open[index]?.lane === lane),
    }))
    return {
      isUnchecked,
      toConfirm: checked.flatMap(({ lane, result }) => {
        // A rate that a rule refuses needs no confirmation.
        const isAccepted = result?.status === 200 && result.outside_rules.length === 0
        const reasons = [
          ...(isAccepted ? notComparedOf(lane, result, assumed) : []),
          ...reasonsToConfirm(result),
        ]
        return reasons.length === 0 ? [] : [{ lane, reasons }]
      }),
      advice: new Map(
        checked.flatMap(({ lane, result }) =>
          result?.status === 200 ? [[lane.id, result.advice] as const] : [],
        ),
      ),
    }
  }
}

/**
 * The rate to quote on a row, in dollars, as for a single quote. Null if neither a best nor a going rate is known. The service already
 * used the typed cost, so its optimum applies.
 */
function bestRateOf(lane: Pick<DeskQuote, 'cost'>, result: QuoteAdvice): number | null {
  const { optimum, estimate, rules } = result
  const { toQuote } = deskAppraisal({ optimum, estimate, rules }, comparedCost(lane, result)).rates
  return toQuote === null ? null : toQuote.rateCents / 100
}

/** The figures of a row, in dollars. */
export interface RowFigures {
  /** The rate to quote, on the terms of the quote. */
  readonly toQuote: number | null
  /** The typed rate, or else the rate to quote, as it is compared, with its chance and its margin. */
  readonly rate: number | null
  readonly chance: number | null
  readonly margin: number | null
  readonly isTyped: boolean
}

/** The figures of a row from its advice: without a typed rate, it is on the rate to quote. */
export function figuresOf(quote: DeskQuote, advice: QuoteAdvice): RowFigures {
  const { conversion, rate, estimate } = advice
  const best = bestRateOf(quote, advice)
  const isTyped = quote.rate.trim() !== ''
  const isShown = conversion !== null && (isTyped || best !== null)
  return {
    toQuote: best === null || conversion === null ? null : onOwnTerms(conversion, best),
    rate: isShown ? rate : null,
    chance: isShown ? (estimate?.probability ?? null) : null,
    margin: isShown ? marginOf(quote, advice) : null,
    isTyped,
  }
}

/**
 * Why the rate of a row cannot be compared, in a sentence; empty if it can.
 *
 * @param assumed the brokerage's default basis, on which quotes are compared
 */
function notComparedOf(
  quote: DeskQuote,
  { conversion }: Pick<QuoteAdvice, 'conversion'>,
  assumed: 'linehaul' | 'all_in',
): string[] {
  return conversion === null
    ? [`The rate cannot be compared: ${missingOf(quote, assumed).replace(/,$/, '')} is not known.`]
    : []
}

/** What is to be checked about the rate of a row, in sentences. */
export function warningsOf(quote: DeskQuote, advice: QuoteAdvice, assumed: 'linehaul' | 'all_in'): string[] {
  return [...notComparedOf(quote, advice, assumed), ...advice.warnings.map(({ detail }) => detail)]
}

/** The entered cost on the terms of the brokerage; null without one, or if it cannot be converted. */
function comparedCost(
  { cost }: Pick<DeskQuote, 'cost'>,
  { conversion }: Pick<QuoteAdvice, 'conversion'>,
): number | null {
  const typed = readDollars(cost)
  return typed === null || conversion === null ? null : converted(conversion, typed)
}

/** The margin of a row over the entered cost, or else over the expected one; null when neither is known. */
export function marginOf(
  quote: DeskQuote,
  advice: Pick<QuoteAdvice, 'rate' | 'estimate' | 'conversion'>,
): number | null {
  const { rate, estimate, conversion } = advice
  if (conversion === null) return null
  const cost = comparedCost(quote, advice) ?? estimate?.expected_cost?.amount ?? null
  return rate === null || cost === null ? null : Math.round((rate - cost) * 100) / 100
}

/** The sums of the rows with a rate. A margin or worth is counted only where it is known. */
export interface QuotesTotals {
  readonly rated: number
  /** The sum in US dollars; null if an amount in Canadian dollars cannot be converted. */
  readonly rate: number | null
  readonly margin: number | null
  readonly marginPct: number | null
  readonly worth: number | null
  readonly withMargin: number
  readonly toCheck: number
}

export function totalsOf(
  rows: readonly { readonly lane: DeskQuote; readonly advice: QuoteAdvice | null }[],
): QuotesTotals {
  const rated = rows.flatMap(({ lane: quote, advice }) => {
    const typed = readDollars(quote.rate)
    if (typed === null) return []
    const isOpen = quote.currency === 'CAD' && advice?.conversion == null
    const rate = advice?.conversion == null ? typed : converted(advice.conversion, typed)
    const margin = advice === null ? null : marginOf(quote, advice)
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
