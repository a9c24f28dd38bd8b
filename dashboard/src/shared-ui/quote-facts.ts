import { useQueryClient } from '@tanstack/react-query'
import { pricedFields, quoteTable } from '#engine/quote-fields.ts'
import { type Answer, type Body, CallFailed, call } from '../api/index.ts'

type AdviceBody = Body<'advise-quotes'>
type Facts = AdviceBody['lanes'][number]
type Result = Answer<'advise-quotes'>['results'][number]

/** The advice on one quote. */
export type QuoteAdvice = Extract<Result, { status: 200 }>

/** The API names of the quote fields that the price depends on, except the customer, which a request for advice has only once. */
type FactName = Exclude<(typeof quoteTable)[(typeof pricedFields)[number]]['sent'], 'customer_name'>

/**
 * A quote that was saved, or one that is typed. Each fact that the price depends on is there, null where it is not known: a page that
 * leaves one out does not compile.
 */
export type PricedQuote = {
  readonly [Name in FactName]:
    | NonNullable<Facts[Name]>
    | (Name extends 'origin' | 'destination' ? never : null)
}

type Known<Fields> = { [Name in keyof Fields as null extends Fields[Name] ? never : Name]: Fields[Name] } & {
  [Name in keyof Fields as null extends Fields[Name] ? Name : never]?: NonNullable<Fields[Name]>
}

/** The fields that are known, for a request. @example knownFields({ miles: null, quoted_rate: 2150 }) // { quoted_rate: 2150 } */
export function knownFields<Fields extends object>(fields: Fields): Known<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Known<Fields>
}

const facts = pricedFields.flatMap((field) => {
  const { sent, unit } = quoteTable[field]
  return sent === 'customer_name' ? [] : [{ sent, isCost: unit === 'cost' }]
})

/**
 * The facts of a quote for advice, a requote and the check of its rate. All three use this function, so that their facts cannot
 * differ.
 *
 * @example quoteFacts(lane) // { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', rate_type: 'contract', … }
 */
function quoteFacts(quote: PricedQuote): Facts {
  // A cost of zero means that nobody knows it.
  const known = facts.map(({ sent, isCost }) => [sent, isCost && quote[sent] === 0 ? null : quote[sent]])
  return knownFields(Object.fromEntries(known)) as Facts
}

/** The request for advice on quotes of one customer; an empty name is any customer. */
export function adviceOn(customer: string, quotes: readonly PricedQuote[]): AdviceBody {
  const name = customer.trim()
  return { ...(name === '' ? {} : { customer: name }), lanes: quotes.map(quoteFacts) }
}

/** The longest wait of a save for the check of its rates. */
const checkWaitMs = 6_000

/** The result of checking rates before the save. */
interface CheckedRates {
  readonly results: readonly Result[]
  /** True when the service did not check the rates in time. Then nobody knows whether there are rates to confirm. */
  readonly isUnchecked: boolean
}

/** Whether the save may succeed although the check failed. Without a connection, the save fails, too, and says why. */
function maySucceedUnchecked(error: unknown): boolean {
  return error instanceof CallFailed ? error.isTemporary && error.code !== 'offline' : true
}

/** Checks rates before a save. Returns the advice on the quotes, or none if the service does not answer in time. */
export function useRateCheck(): (body: AdviceBody) => Promise<CheckedRates> {
  const queries = useQueryClient()
  return async (body) => {
    const signal = AbortSignal.timeout(checkWaitMs)
    try {
      const { results } = await queries.fetchQuery({
        queryKey: ['advise-quotes', { body }],
        queryFn: () => call('advise-quotes', { body, signal }),
        staleTime: 60_000,
      })
      return { results, isUnchecked: false }
    } catch (error) {
      return { results: [], isUnchecked: maySucceedUnchecked(error) }
    }
  }
}

/**
 * The reasons to confirm a rate before it is saved; empty without any. A rate that a rule refuses needs no confirmation: the
 * service refuses it, and the page offers to ask for approval.
 */
export function reasonsToConfirm(result: Result | undefined): string[] {
  if (result?.status !== 200 || result.outside_rules.length > 0) return []
  return result.warnings.map(({ detail }) => detail)
}
