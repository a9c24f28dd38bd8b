import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import type { Quote } from '#contract/quote.ts'
import {
  type Body,
  CallFailed,
  call,
  quotesHaveChanged,
  showQuote,
  stopReloadingQuotes,
} from '../api/index.ts'
import { laneName } from './formats.ts'
import { useNotice } from './notices.tsx'
import { outcomeWords, type Reason } from './outcome-words.tsx'

/** The outcomes that a person can set. */
export type Decision = Body<'set-outcome'>['outcome']
export type Mark = (quote: Quote, outcome: Decision, reason?: Reason | null) => void

/** The outcome that undoes a mark. Nobody can set expired, so an expired quote becomes pending, and stays pending. */
export function decisionBefore({ outcome }: Quote): Decision {
  return outcome === 'expired' ? 'pending' : outcome
}

/** A quote as it will be once a person has marked it. */
export function shownAs(quote: Quote, outcome: Quote['outcome'], reason: Reason | null): Quote {
  return {
    ...quote,
    outcome,
    outcome_reason: reason,
    outcome_source: 'dashboard',
    decided_at: outcome === 'pending' ? null : new Date().toISOString(),
  }
}

/** A mark that is sent to the service after the earlier marks of its quote. */
interface MarkUnderWay {
  readonly answer: Promise<Quote>
  /** The outcome that the quote had before the first of these marks. */
  readonly outcomeBefore: Quote['outcome']
}

/** Another person marked the quote after this page had loaded it. */
class MarkedByAnother extends Error {
  readonly lane: Quote
  constructor(detail: string, quote: Quote) {
    super(detail)
    this.lane = quote
  }
}

/** Marks a quote that still has the expected outcome. @throws MarkedByAnother, CallFailed */
async function sendMark(
  lane_ref: string,
  outcome: Decision,
  reason: Reason | null,
  expected_outcome: Quote['outcome'],
): Promise<Quote> {
  const asked = { lane_ref, outcome, expected_outcome, ...(reason === null ? {} : { reason }) }
  const { results } = await call('mark-quotes', { body: { lanes: [asked] } })
  const [result] = results
  if (result?.status === 200) return result.lane
  if (result?.lane !== undefined) throw new MarkedByAnother(result.detail, result.lane)
  throw new CallFailed('lane-not-found', result?.detail ?? 'The quote was not found.', { status: 404 })
}

/**
 * Marks a quote won, lost or pending. The page shows the mark at once, and reverts it when the call fails. The notice offers
 * undo. Marks of one quote are sent in order, so that the last one wins. If another person marked the quote after the page had
 * loaded it, the quote keeps that outcome, and the notice names the person and offers to replace it.
 *
 * @example const mark = useOutcomeMarks(); mark(lane, 'lost', 'price')
 */
export function useOutcomeMarks(): Mark {
  const queries = useQueryClient()
  const notify = useNotice()
  const underWay = useRef(new Map<string, MarkUnderWay>())
  const mark = useCallback(
    async (quote: Quote, outcome: Decision, reason: Reason | null = null): Promise<void> => {
      const { lane_ref } = quote
      const name = `${laneName(quote.origin, quote.destination)} (${lane_ref})`
      if (quote.outcome === outcome && quote.outcome_reason === reason) {
        notify(`${name} is already ${outcomeWords(outcome, reason)}`)
        return
      }
      void stopReloadingQuotes(queries)
      showQuote(queries, shownAs(quote, outcome, reason))
      const before = underWay.current.get(lane_ref)
      const outcomeBefore = before?.outcomeBefore ?? quote.outcome
      // After a failed mark, the quote still has its earlier outcome.
      const expected = before?.answer.then(
        (marked) => marked.outcome,
        () => outcomeBefore,
      )
      const sent = (expected ?? Promise.resolve(quote.outcome)).then((known) =>
        sendMark(lane_ref, outcome, reason, known),
      )
      underWay.current.set(lane_ref, { answer: sent, outcomeBefore })
      const isLast = () => underWay.current.get(lane_ref)?.answer === sent
      try {
        const marked = await sent
        if (!isLast()) return
        showQuote(queries, marked)
        notify(`${name} was marked ${outcomeWords(outcome, reason)}`, {
          action: {
            label: 'Undo',
            run: () => void mark(marked, decisionBefore(quote), quote.outcome_reason),
          },
        })
        await quotesHaveChanged(queries, [lane_ref])
      } catch (error) {
        if (!isLast()) return
        if (error instanceof MarkedByAnother) {
          const { lane: current } = error
          showQuote(queries, current)
          notify(`${name} was not marked ${outcomeWords(outcome, reason)}. ${error.message}`, {
            failed: true,
            ...(current.voided_at === null && current.superseded_by === null
              ? { action: { label: 'Replace the outcome', run: () => void mark(current, outcome, reason) } }
              : {}),
          })
          await quotesHaveChanged(queries, [lane_ref])
          return
        }
        showQuote(queries, quote)
        notify(`${name} was not marked ${outcomeWords(outcome, reason)}. ${failureWords(error)}`, {
          failed: true,
          action: { label: 'Try again', run: () => void mark(quote, outcome, reason) },
        })
        // An earlier mark may have failed too, so the quote is reloaded from the service.
        await call('get-quote', { params: { lane_ref } }).then(
          (current) => showQuote(queries, current),
          () => undefined,
        )
      } finally {
        if (isLast()) underWay.current.delete(lane_ref)
      }
    },
    [queries, notify],
  )
  return useCallback((quote, outcome, reason) => void mark(quote, outcome, reason), [mark])
}

/** Why a mark failed, as a sentence. */
export function failureWords(error: unknown): string {
  return error instanceof CallFailed ? error.message : 'An error occurred in this page. Reload it.'
}
