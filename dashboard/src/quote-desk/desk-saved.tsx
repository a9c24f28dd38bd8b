import { Button, Group, Kbd, Paper, Stack, Text, Title } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import type { Quote } from '#contract/quote.ts'
import { type Answer, useAnswer, useMay, useSession } from '../api/index.ts'
import { mayRequote, RequoteDialog } from '../requote/index.ts'
import {
  CopyButton,
  CustomerLink,
  CustomerText,
  counted,
  DataTable,
  type Decision,
  emailText,
  equipmentName,
  laneName,
  lostQuote,
  newestQuotes,
  OutcomeMark,
  ReasonDialog,
  rateText,
  TextLink,
  useCopyText,
  useOutcomeMarks,
  useShortcuts,
  validUntil,
} from '../shared-ui/index.ts'

type Request = Answer<'create-quote-request'>

/** The quotes as rows for a spreadsheet. */
function rowsOf(quotes: readonly Quote[]): string {
  return quotes
    .map(({ lane_ref, origin, destination, equipment, quoted_rate, quoted_currency }) =>
      [lane_ref, origin, destination, equipment, quoted_rate, quoted_currency ?? 'USD'].join('\t'),
    )
    .join('\n')
}

/** The saved request: the text for the customer, the lane_refs for the TMS, and the outcome if it is known at once. */
export function Saved({
  request,
  next,
  onNext,
  onNew,
}: {
  request: Request
  /** The name of the draft that waits; null if none does. */
  next: string | null
  /** Opens that draft, or else a new one. */
  onNext: () => void
  onNew: () => void
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const { customer_name, reference } = request
  const offers = useSavedQuotes(request)
  // The offer that counts for each load: after a requote, marks apply to the new offer.
  const quotes = offers.filter(({ superseded_by }) => superseded_by === null)
  const earlier = offers.filter(({ superseded_by }) => superseded_by !== null)
  const marks = useMarks(quotes)
  const mayMark = useMay('member')
  const [toRequote, setToRequote] = useState<Quote | null>(null)
  const requote = (quote: Quote | null) => {
    if (quote !== null && mayMark && mayRequote(quote)) setToRequote(quote)
  }
  const offered = { ...request, lanes: newestQuotes(quotes) }
  const text = emailText(offered, useSession())
  useSavedKeys({
    ...marks,
    rows: quotes.length,
    goOn: next === null ? 'New request' : 'Next draft',
    onNext,
    onNew,
    copy: useCopyText(text),
    requote: () => requote(marks.chosen),
  })
  return (
    <Paper withBorder p="md">
      <Stack>
        <div>
          <Title order={2} size="h4" ref={heading} tabIndex={-1} style={{ outline: 'none' }}>
            {counted(request.lanes.length, 'quote')} saved
          </Title>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            For <CustomerLink name={customer_name} />
            {reference === null ? '' : `, reference ${reference}`}. The TMS sends the quote number back when
            it books the load.
          </Text>
        </div>
        <Warnings request={request} />
        <ForCustomer request={offered} text={text} />
        <SavedQuotes
          lanes={quotes}
          chosen={marks.chosen}
          choose={marks.choose}
          requote={mayMark ? requote : null}
        />
        {earlier.length > 0 && (
          <Text size="sm">
            Superseded: {earlier.map((quote) => `${quote.lane_ref} at ${rateText(quote)}`).join('; ')}.
          </Text>
        )}
        <GoOn quotes={quotes} next={next} onNext={onNext} />
      </Stack>
      <RequoteDialog quote={toRequote} onClose={() => setToRequote(null)} />
      <ReasonDialog about={lostQuote(marks.losing)} onChoose={marks.lost} onClose={marks.keep} />
    </Paper>
  )
}

/** The way to the next draft, or to a new request, with the keys of the page. */
function GoOn({
  quotes,
  next,
  onNext,
}: {
  quotes: readonly Quote[]
  next: string | null
  onNext: () => void
}) {
  return (
    <>
      <Group>
        <Button
          maw="100%"
          onClick={onNext}
          rightSection={
            <Kbd size="xs" aria-hidden visibleFrom="sm">
              Enter
            </Kbd>
          }
        >
          {next === null ? 'New request' : `Next: ${next}`}
        </Button>
        <CopyButton
          text={rowsOf(quotes)}
          what={quotes.length === 1 ? 'the line' : `all ${quotes.length} lines`}
        />
      </Group>
      <Text size="xs" c="dimmed" visibleFrom="sm">
        {next === null ? 'Enter: new request.' : 'Enter: the draft that waits. N: new request.'} C: copy the
        text for the customer. W: mark won. L: mark lost. U: pending again. R: requote, or answer a
        counter-offer.
        {quotes.length > 1 && ' Up and Down choose the quote.'}
      </Text>
    </>
  )
}

/** The quotes with their current outcomes: the save and every mark write them to the cached request. */
function useSavedQuotes({ request_id, lanes: quotes }: Request): readonly Quote[] {
  const { data } = useAnswer('get-quote-request', { params: { request_id } }, { staleMs: 60_000 })
  return data?.lanes ?? quotes
}

/** The chosen quote, and the marks on it. */
function useMarks(quotes: readonly Quote[]) {
  const [at, choose] = useState(0)
  const [losing, setLosing] = useState<Quote | null>(null)
  const mark = useOutcomeMarks()
  const mayMark = useMay('member')
  const chosen = quotes[at] ?? quotes[0] ?? null
  return {
    at,
    choose,
    chosen,
    losing,
    lost: (reason: Parameters<typeof mark>[2]) => losing && mark(losing, 'lost', reason),
    keep: () => setLosing(null),
    mark: (outcome: Decision) => {
      if (chosen === null || !mayMark) return
      if (outcome === 'lost') setLosing(chosen)
      else mark(chosen, outcome)
    },
  }
}

/** Enter opens the next draft, N begins a new request; W, L and U mark the chosen quote; Up and Down choose one. */
function useSavedKeys({
  at,
  rows,
  choose,
  mark,
  goOn,
  onNext,
  onNew,
  copy,
  requote,
}: {
  at: number
  rows: number
  choose: (at: number) => void
  mark: (outcome: Decision) => void
  /** What Enter does. */
  goOn: string
  onNext: () => void
  onNew: () => void
  copy: () => void
  requote: () => void
}) {
  const isControl = (target: Element) => target.closest('a, button, summary') !== null
  const chooses = (to: number) => () => (rows > 1 ? choose(Math.max(0, Math.min(rows - 1, to))) : false)
  useShortcuts('Saved quote', [
    {
      keys: ['Enter'],
      does: goOn,
      on: ['Enter'],
      run: (_, target) => (isControl(target) ? false : onNext()),
    },
    { keys: ['N'], does: 'New request', on: ['n'], run: onNew },
    { keys: ['C'], does: 'Copy the text for the customer', on: ['c'], run: copy },
    { keys: ['W'], does: 'Mark won', on: ['w'], run: () => mark('won') },
    { keys: ['L'], does: 'Mark lost, with a reason', on: ['l'], run: () => mark('lost') },
    { keys: ['U'], does: 'Set pending again', on: ['u'], run: () => mark('pending') },
    { keys: ['R'], does: 'Requote, or answer a counter-offer', on: ['r'], run: requote },
    { keys: ['↓'], does: 'Next quote', on: ['ArrowDown'], run: chooses(at + 1) },
    { keys: ['↑'], does: 'Previous quote', on: ['ArrowUp'], run: chooses(at - 1) },
  ])
}

/** More warnings than these are behind their number: the text for the customer stays on the screen. */
const warningsShown = 3

/** The service's warnings about the saved rates, with or without a confirmation. */
function Warnings({ request }: { request: Request }) {
  const found = request.lanes.filter(({ warnings }) => warnings.length > 0)
  if (found.length === 0) return null
  const list = (
    <ul className="desk-list desk-flag" aria-label="Rates to check">
      {found.map(({ lane_ref, warnings }) => (
        <li key={lane_ref}>
          {lane_ref}: {warnings.map(({ detail }) => detail).join(' ')}
        </li>
      ))}
    </ul>
  )
  if (found.length <= warningsShown) return list
  return (
    <details>
      <summary className="desk-flag">{counted(found.length, 'rate')} to check</summary>
      {list}
    </details>
  )
}

function SavedQuotes({
  lanes: quotes,
  chosen,
  choose,
  requote,
}: {
  lanes: readonly Quote[]
  chosen: Quote | null
  choose: (at: number) => void
  /** Requotes a quote; null for a person who may not mark quotes. */
  requote: ((quote: Quote) => void) | null
}) {
  return (
    <DataTable
      caption="Quotes of this request"
      rows={quotes}
      rowKey={({ lane_ref }) => lane_ref}
      chosen={quotes.length > 1 ? (chosen?.lane_ref ?? null) : null}
      onRowFocus={(quote) => choose(quotes.indexOf(quote))}
      columns={[
        {
          key: 'ref',
          header: 'Quote number',
          cell: ({ lane_ref }) => (
            <Group gap="xs" wrap="nowrap">
              <TextLink to={pagePaths.quote.replace('{lane_ref}', lane_ref)}>{lane_ref}</TextLink>
              <CopyButton text={lane_ref} what={`quote number ${lane_ref}`} compact />
            </Group>
          ),
        },
        {
          key: 'lane',
          header: 'Lane',
          cell: ({ origin, destination, equipment }) => (
            <TextLink to={pagePaths.lane} query={{ origin, destination, equipment }}>
              {laneName(origin, destination)}
            </TextLink>
          ),
        },
        { key: 'equipment', header: 'Equipment', cell: ({ equipment }) => equipmentName(equipment) },
        { key: 'rate', header: 'Rate', align: 'right', cell: (quote) => rateText(quote) },
        {
          key: 'outcome',
          header: 'Outcome',
          cell: ({ outcome }) => <OutcomeMark outcome={outcome} />,
        },
        ...(requote === null
          ? []
          : [
              {
                key: 'requote',
                header: 'The customer says',
                cell: (quote: Quote) => (
                  <Button
                    size="compact-xs"
                    variant="default"
                    disabled={!mayRequote(quote)}
                    onClick={() => requote(quote)}
                  >
                    Requote
                  </Button>
                ),
              },
            ]),
      ]}
    />
  )
}

/** The quote as the customer sees it: to copy as an e-mail, or to print. Only the table is printed. */
function ForCustomer({
  request,
  text,
}: {
  request: Omit<Request, 'lanes'> & { readonly lanes: readonly Quote[] }
  text: string
}) {
  const { tenant } = useSession()
  const { lanes: quotes, customer_name, reference } = request
  return (
    <section aria-label="For the customer">
      <CustomerText text={text} isSelected>
        <Button size="compact-xs" variant="default" onClick={() => window.print()}>
          Print
        </Button>
      </CustomerText>
      <div className="printed-only">
        <Title order={2}>{tenant.name}</Title>
        <p>
          {quotes.length === 1 ? 'Quote' : 'Quotes'} for {customer_name}
          {reference === null ? '' : `, your reference ${reference}`}
        </p>
        <table>
          <thead>
            <tr>
              <th scope="col">Lane</th>
              <th scope="col">Equipment</th>
              <th scope="col">Pickup</th>
              <th scope="col">Rate</th>
              <th scope="col">Valid until</th>
              <th scope="col">Our reference</th>
            </tr>
          </thead>
          <tbody>
            {quotes.map((quote) => (
              <tr key={quote.lane_ref}>
                <td>{laneName(quote.origin, quote.destination)}</td>
                <td>{equipmentName(quote.equipment)}</td>
                <td>{quote.pickup_date ?? ''}</td>
                <td>{rateText({ ...quote, quoted_basis: quote.quoted_basis ?? tenant.default_basis })}</td>
                <td>{validUntil(quote, tenant.quote_expiry.valid_days) ?? ''}</td>
                <td>{quote.lane_ref}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
