import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Quote } from '#contract/quote.ts'
import { CallFailed, quotesHaveChanged, showQuote, useChange } from '../api/index.ts'
import {
  counted,
  type Decision,
  decisionBefore,
  failureWords,
  outcomeWords,
  type Reason,
  shownAs,
  useNotice,
} from '../shared-ui/index.ts'

/** A quote to mark, with the outcome that it should get. */
export interface BulkMark {
  readonly lane: Quote
  readonly outcome: Decision
  readonly reason: Reason | null
}

/** A quote that was not marked, and why. `lane` is the quote as it is now; null if it no longer exists. */
export interface RefusedMark {
  readonly mark: BulkMark
  readonly detail: string
  readonly lane: Quote | null
}

/** True if the quote can be marked despite the mark of another person. A voided quote must be restored first. */
export function mayReplace({ lane: quote }: RefusedMark): boolean {
  return quote !== null && quote.voided_at === null && quote.superseded_by === null
}

/** The marks in words, within a sentence. An undo can restore different outcomes. */
function marksWords([first, ...others]: readonly BulkMark[]): string {
  if (first === undefined) return ''
  const words = outcomeWords(first.outcome, first.reason)
  return others.every(({ outcome, reason }) => outcomeWords(outcome, reason) === words)
    ? `marked ${words}`
    : 'set back to their earlier outcomes'
}

/**
 * Marks several quotes with one request. The list shows the marks at once, and reverts those that fail. The notice undoes all
 * marks with one request. A quote that another person marked meanwhile keeps its outcome and is listed in `refused`.
 */
export function useBulkMarks(onMarked: () => void) {
  const queries = useQueryClient()
  const notify = useNotice()
  const send = useChange('mark-quotes')
  const [refused, setRefused] = useState<readonly RefusedMark[]>([])

  const apply = async (marks: readonly BulkMark[], { overwrites = false } = {}): Promise<void> => {
    const words = marksWords(marks)
    for (const { lane: quote, outcome, reason } of marks) showQuote(queries, shownAs(quote, outcome, reason))
    try {
      const { results, marked } = await send.mutateAsync({
        body: {
          lanes: marks.map(({ lane: quote, outcome, reason }) => ({
            lane_ref: quote.lane_ref,
            outcome,
            ...(reason === null ? {} : { reason }),
            ...(overwrites ? {} : { expected_outcome: quote.outcome }),
          })),
        },
      })
      const undo: BulkMark[] = []
      const failed: RefusedMark[] = []
      for (const result of results) {
        const mark = marks[result.index]
        if (mark === undefined) continue
        const { lane: quote } = mark
        showQuote(queries, result.lane ?? quote)
        if (result.status === 200) {
          undo.push({ lane: result.lane, outcome: decisionBefore(quote), reason: quote.outcome_reason })
        } else failed.push({ mark, detail: result.detail, lane: result.lane ?? null })
      }
      if (marked > 0) {
        notify(`${counted(marked, 'quote')} ${marked === 1 ? 'was' : 'were'} ${words}`, {
          action: { label: 'Undo', run: () => void apply(undo) },
        })
      }
      setRefused(failed)
      onMarked()
      await quotesHaveChanged(
        queries,
        marks.map(({ lane: quote }) => quote.lane_ref),
      )
    } catch (error) {
      for (const { lane: quote } of marks) showQuote(queries, quote)
      const were = marks.length === 1 ? 'was' : 'were'
      notify(`${counted(marks.length, 'quote')} ${were} not ${words}. ${failureWords(error)}`, {
        failed: true,
        action: { label: 'Try again', run: () => void apply(marks, { overwrites }) },
      })
      // Without an answer, the marks may have been saved. After the end of the session, sign-in loads the list again.
      if (error instanceof CallFailed && error.status !== 401) {
        void queries.invalidateQueries({ queryKey: ['list-quotes'] })
      }
    }
  }

  return {
    isSending: send.isPending,
    refused,
    closeRefused: () => setRefused([]),
    /** Marks the quotes that do not have the outcome yet. */
    mark: (quotes: readonly Quote[], outcome: Decision, reason: Reason | null = null) => {
      const marks = quotes
        .filter((quote) => quote.outcome !== outcome || quote.outcome_reason !== reason)
        .map((quote) => ({ lane: quote, outcome, reason }))
      if (marks.length > 0) void apply(marks)
      else notify(`All selected quotes are already ${outcomeWords(outcome, reason)}`)
    },
    /** Marks the refused quotes despite the marks of others. */
    markRefused: () => {
      const marks = refused
        .filter(mayReplace)
        .map(({ mark, lane: quote }) => ({ ...mark, lane: quote ?? mark.lane }))
      setRefused([])
      void apply(marks, { overwrites: true })
    },
  }
}
