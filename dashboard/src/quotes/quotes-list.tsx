import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import type { Quote } from '#contract/quote.ts'
import { mayRequote, RequoteDialog } from '../requote/index.ts'
import {
  DataTable,
  focusLink,
  lostQuote,
  OrderNote,
  ReasonDialog,
  useNotice,
  useOutcomeMarks,
  useStable,
} from '../shared-ui/index.ts'
import { BulkBar, useQuotesBulk } from './quotes-bulk.tsx'
import { columnsNamed, type RowAction } from './quotes-columns.tsx'
import { type OpenedMenu, QuotesRowMenu } from './quotes-row-menu.tsx'
import { useQuotesSelection } from './quotes-selection.ts'
import { useQuotesShortcuts } from './quotes-shortcuts.ts'
import './quotes.css'

/** The current row when the list was last left. The list selects the row again when the user comes back. */
let lastCurrent: string | null = null

/** The list of quotes, with actions by keyboard, button and menu, on one quote or on the selected ones. */
export function QuotesList({
  rows,
  columns,
  isBusy,
  sort,
  onSort,
  mayMark,
}: {
  rows: readonly Quote[]
  /** The names of the chosen columns; empty for the usual ones. */
  columns: readonly string[]
  isBusy: boolean
  sort: string
  onSort: (sort: string) => void
  mayMark: boolean
}) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [menu, setMenu] = useState<OpenedMenu | null>(null)
  const [current, setCurrent] = useCurrentRow(rows, body)
  const { act, dialogs } = useRowActions(mayMark)
  const selection = useQuotesSelection(rows)
  const bulk = useQuotesBulk(selection)
  const actFrom = useStable((action: RowAction, quote: Quote, from: HTMLElement) => {
    if (action === 'menu') {
      setMenu({ quote, from })
      return
    }
    // The action can remove the button that has the focus, so the focus moves to the row's link.
    if (action !== 'copy' && action !== 'open') focusLink(from.closest('tr'))
    act(action, quote)
  })
  useQuotesShortcuts({
    body,
    mayMark,
    selection,
    onAction: (action, row) => {
      const quote = rows[row]
      if (quote !== undefined) act(action, quote)
    },
    onMarkSelected: bulk.mark,
  })
  return (
    <>
      <OrderNote sort={sort} lanes={rows} />
      <DataTable
        caption="Quotes"
        className="quotes-table"
        rows={rows}
        rowKey={({ lane_ref }) => lane_ref}
        columns={useMemo(() => columnsNamed(columns, mayMark, actFrom), [columns, mayMark, actFrom])}
        showsAll={columns.length > 0}
        selection={mayMark ? selection : null}
        chosen={current}
        isBusy={isBusy}
        sort={sort}
        onSort={onSort}
        onRowFocus={({ lane_ref }) => setCurrent(lane_ref)}
        body={body}
      />
      {selection.lanes.length > 0 && <BulkBar selection={selection} {...bulk} />}
      {menu !== null && (
        <QuotesRowMenu opened={menu} mayMark={mayMark} act={actFrom} onClose={() => setMenu(null)} />
      )}
      {dialogs}
      {bulk.dialogs}
    </>
  )
}

/** The actions on a row, and the dialogs that two of them open. */
function useRowActions(mayMark: boolean): {
  readonly act: (action: RowAction, quote: Quote) => void
  readonly dialogs: ReactNode
} {
  const [toLose, setToLose] = useState<Quote | null>(null)
  const [toRequote, setToRequote] = useState<Quote | null>(null)
  const mark = useOutcomeMarks()
  const copy = useCopiedRef()
  const navigate = useNavigate()
  const act = (action: RowAction, quote: Quote) => {
    if (action === 'copy') copy(quote.lane_ref)
    else if (action === 'open')
      void navigate({ to: '/quotes/$lane_ref', params: { lane_ref: quote.lane_ref } })
    else if (!mayMark) return
    else if (action === 'lost') setToLose(quote)
    else if (action === 'requote') {
      if (mayRequote(quote)) setToRequote(quote)
    } else if (action === 'won' || action === 'pending') mark(quote, action)
  }
  const dialogs = (
    <>
      <ReasonDialog
        about={lostQuote(toLose)}
        onChoose={(reason) => toLose && mark(toLose, 'lost', reason)}
        onClose={() => setToLose(null)}
      />
      <RequoteDialog quote={toRequote} onClose={() => setToRequote(null)} />
    </>
  )
  return { act, dialogs }
}

/** The current row of the keyboard. When that row leaves the list, the row at the same position becomes current. */
function useCurrentRow(
  rows: readonly Quote[],
  body: RefObject<HTMLTableSectionElement | null>,
): readonly [string | null, (laneRef: string) => void] {
  const [chosen, setChosen] = useState(lastCurrent)
  const at = useRef(0)
  const found = rows.findIndex(({ lane_ref }) => lane_ref === chosen)
  const shown = found === -1 ? Math.min(at.current, rows.length - 1) : found
  const hadFocus = useRef(false)
  useEffect(() => {
    at.current = shown
    if (found === -1 && hadFocus.current && document.activeElement === document.body) {
      focusLink(body.current?.children[shown])
    }
    hadFocus.current = body.current?.contains(document.activeElement) ?? false
  })
  const setCurrent = (laneRef: string) => {
    lastCurrent = laneRef
    hadFocus.current = true
    setChosen(laneRef)
  }
  return [rows[shown]?.lane_ref ?? null, setCurrent]
}

function useCopiedRef(): (laneRef: string) => void {
  const notify = useNotice()
  return (laneRef) =>
    void navigator.clipboard.writeText(laneRef).then(
      () => notify(`${laneRef} copied`),
      () =>
        notify('The browser does not let this page copy. Select the text and copy it by hand.', {
          failed: true,
        }),
    )
}
