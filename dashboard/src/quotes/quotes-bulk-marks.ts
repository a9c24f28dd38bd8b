import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Lane } from '#contract/lane.ts'
import { CallFailed, lanesHaveChanged, showLane, useChange } from '../api/index.ts'
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
  readonly lane: Lane
  readonly outcome: Decision
  readonly reason: Reason | null
}

/** A quote that was not marked, and why. `lane` is the quote as it is now; null if it no longer exists. */
export interface RefusedMark {
  readonly mark: BulkMark
  readonly detail: string
  readonly lane: Lane | null
}

/** True if the quote can be marked despite the mark of another person. A voided quote must be restored first. */
export function mayReplace({ lane }: RefusedMark): boolean {
  return lane !== null && lane.voided_at === null && lane.superseded_by === null
}

/** What the marks do, within a sentence. Undo restores different outcomes. */
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
  const send = useChange('mark-lanes')
  const [refused, setRefused] = useState<readonly RefusedMark[]>([])

  const apply = async (marks: readonly BulkMark[], { overwrites = false } = {}): Promise<void> => {
    const words = marksWords(marks)
    for (const { lane, outcome, reason } of marks) showLane(queries, shownAs(lane, outcome, reason))
    try {
      const { results, marked } = await send.mutateAsync({
        body: {
          lanes: marks.map(({ lane, outcome, reason }) => ({
            lane_ref: lane.lane_ref,
            outcome,
            ...(reason === null ? {} : { reason }),
            ...(overwrites ? {} : { expected_outcome: lane.outcome }),
          })),
        },
      })
      const undo: BulkMark[] = []
      const failed: RefusedMark[] = []
      for (const result of results) {
        const mark = marks[result.index]
        if (mark === undefined) continue
        const { lane } = mark
        showLane(queries, result.lane ?? lane)
        if (result.status === 200) {
          undo.push({ lane: result.lane, outcome: decisionBefore(lane), reason: lane.outcome_reason })
        } else failed.push({ mark, detail: result.detail, lane: result.lane ?? null })
      }
      if (marked > 0) {
        notify(`${counted(marked, 'quote')} ${marked === 1 ? 'was' : 'were'} ${words}`, {
          action: { label: 'Undo', run: () => void apply(undo) },
        })
      }
      setRefused(failed)
      onMarked()
      await lanesHaveChanged(
        queries,
        marks.map(({ lane }) => lane.lane_ref),
      )
    } catch (error) {
      for (const { lane } of marks) showLane(queries, lane)
      const were = marks.length === 1 ? 'was' : 'were'
      notify(`${counted(marks.length, 'quote')} ${were} not ${words}. ${failureWords(error)}`, {
        failed: true,
        action: { label: 'Try again', run: () => void apply(marks, { overwrites }) },
      })
      // Without an answer, the marks may have been saved. After the end of the session, sign-in loads the list again.
      if (error instanceof CallFailed && error.status !== 401) {
        void queries.invalidateQueries({ queryKey: ['list-lanes'] })
      }
    }
  }

  return {
    isSending: send.isPending,
    refused,
    closeRefused: () => setRefused([]),
    /** Marks the quotes that do not have the outcome yet. */
    mark: (lanes: readonly Lane[], outcome: Decision, reason: Reason | null = null) => {
      const marks = lanes
        .filter((lane) => lane.outcome !== outcome || lane.outcome_reason !== reason)
        .map((lane) => ({ lane, outcome, reason }))
      if (marks.length > 0) void apply(marks)
      else notify(`All selected quotes are already ${outcomeWords(outcome, reason)}`)
    },
    /** Marks the refused quotes despite the marks of others. */
    markRefused: () => {
      const marks = refused.filter(mayReplace).map(({ mark, lane }) => ({ ...mark, lane: lane ?? mark.lane }))
      setRefused([])
      void apply(marks, { overwrites: true })
    },
  }
}
