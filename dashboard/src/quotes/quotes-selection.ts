import { useState } from 'react'
import type { Quote } from '#contract/quote.ts'
import type { RowSelection } from '../shared-ui/index.ts'

/** The selected rows of the list. Rows that leave the list are not selected any more. */
export interface QuotesSelection extends RowSelection {
  readonly lanes: readonly Quote[]
  readonly toggle: (row: number) => void
  readonly add: (rows: readonly number[]) => void
  /** Selects or deselects the rows from the last one that was clicked to this one. */
  readonly click: (row: number, isSelected: boolean, withShift: boolean) => void
}

export function useQuotesSelection(rows: readonly Quote[]): QuotesSelection {
  const [refs, setRefs] = useState<ReadonlySet<string>>(new Set())
  const [last, setLast] = useState<string | null>(null)
  const change = (wanted: readonly number[], isSelected: boolean) =>
    setRefs((before) => {
      const next = new Set(before)
      for (const at of wanted) {
        const ref = rows[at]?.lane_ref
        if (ref === undefined) continue
        if (isSelected) next.add(ref)
        else next.delete(ref)
      }
      return next
    })
  const has = (laneRef: string) => refs.has(laneRef)
  const lanes = rows.filter(({ lane_ref }) => has(lane_ref))
  return {
    lanes,
    count: lanes.length,
    has,
    toggle: (at) => change([at], !has(rows[at]?.lane_ref ?? '')),
    add: (wanted) => change(wanted, true),
    addAll: () => change([...rows.keys()], true),
    clear: () => setRefs(new Set()),
    click: (at, isSelected, withShift) => {
      const from = withShift ? rows.findIndex(({ lane_ref }) => lane_ref === last) : -1
      const [first, end] = from === -1 ? [at, at] : [Math.min(from, at), Math.max(from, at)]
      change(
        Array.from({ length: end - first + 1 }, (_, nth) => first + nth),
        isSelected,
      )
      setLast(rows[at]?.lane_ref ?? null)
    },
  }
}
