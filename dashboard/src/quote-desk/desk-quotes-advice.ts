import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { typingPauseMs } from '#client/debounce.ts'
import { useAnswer } from '../api/index.ts'
import {
  adviceOn,
  converted,
  type PricedQuote,
  type QuoteAdvice,
  readDollars,
  reasonsToConfirm,
  useRateCheck,
} from '../shared-ui/index.ts'
import { changedInWords, deskAppraisal } from './desk-appraisal.ts'
import { type DeskQuote, type Draft, hasState, quotesToSave, sentQuote } from './desk-draft.ts'

/** The facts of a row that its price depends on; null while its places are incomplete. */
function askedOf(quote: DeskQuote): PricedQuote | null {
  const { market_rate: _, pickup_date: __, ...facts } = sentQuote(quote)
  return hasState(quote.origin) && hasState(quote.destination) ? facts : null
}

const noResults: ReadonlyMap<string, QuoteAdvice> = new Map()

/**
 * The advice for each row, by its number in the draft, from one request for all rows after a pause in typing. A row whose
 * fields changed since has no advice until the next answer; the other rows keep theirs.
 */
export function useQuotesAdvice(
  { lanes: quotes, customer }: Pick<Draft, 'lanes' | 'customer'>,
  isNeeded: boolean,
): (quote: DeskQuote) => QuoteAdvice | null {
  const asked = [...new Set(quotes.map((quote) => JSON.stringify(askedOf(quote))))].filter(
    (one) => one !== 'null',
  )
  const [settled] = useDebouncedValue(JSON.stringify(asked), typingPauseMs)
  const keys = JSON.parse(settled) as string[]
  const [named] = useDebouncedValue(customer.trim(), typingPauseMs)
  const body = adviceOn(
    named,
    keys.map((key) => JSON.parse(key) as PricedQuote),
  )
  const { data } = useAnswer(
    'advise-quotes',
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
  return (quote) => results.get(JSON.stringify(askedOf(quote))) ?? null
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

const nothingToCheck: CheckedRates = { toConfirm: [], isUnchecked: false, advice: new Map() }

/** Checks the rates of a draft before it is saved. */
export function useDraftCheck(): (draft: Draft) => Promise<CheckedRates> {
  const check = useRateCheck()
  return async (draft) => {
    const lanes = quotesToSave(draft).flatMap((quote) => {
      const asked = askedOf(quote)
      return asked === null ? [] : [{ lane: quote, asked }]
    })
    if (lanes.length === 0) return nothingToCheck
    const { results, isUnchecked } = await check(
      adviceOn(
        draft.customer,
        lanes.map(({ asked }) => asked),
      ),
    )
    const toConfirm = results.flatMap((result) => {
      const quote = lanes[result.index]?.lane
      const reasons = reasonsToConfirm(result)
      return quote === undefined || reasons.length === 0 ? [] : [{ lane: quote, reasons }]
    })
    const advice = new Map(
      results.flatMap((result) => {
        const quote = lanes[result.index]?.lane
        return quote === undefined || result.status !== 200 ? [] : [[quote.id, result.advice] as const]
      }),
    )
    return { toConfirm, isUnchecked, advice }
  }
}

/**
 * The rate to quote on a row, in dollars, as for a single quote, with the changes by the rules. Null if neither a best nor a going
 * rate is known. The service already used the typed cost, so its optimum applies.
 */
export function bestRateOf(
  lane: Pick<DeskQuote, 'cost'>,
  result: QuoteAdvice,
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
