import './desk.css'
import { Anchor, Button, Checkbox, Group, Paper, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { Link, useSearch } from '@tanstack/react-router'
import { type ComponentProps, useEffect, useState } from 'react'
import { quotesPerRequestMax } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { useMay } from '../api/index.ts'
import {
  counted,
  Failed,
  Page,
  type TypedField,
  useNotice,
  useOnceSettled,
  useOwnAddress,
} from '../shared-ui/index.ts'
import {
  focusAfterDialog,
  focusCustomer,
  focusQuote,
  onSaveKey,
  useConfirmedSave,
  useDeskKeys,
  usePricing,
} from './desk-actions.ts'
import { DeskAdvice } from './desk-advice.tsx'
import { useDeskAnswer } from './desk-answer.ts'
import { AskApproval } from './desk-approval.tsx'
import { ConfirmRates } from './desk-confirm.tsx'
import {
  blankDraft,
  blankQuote,
  type DeskError,
  type DeskQuote,
  type Draft,
  errorsAt,
  hasState,
  isBlank,
  nextId,
  quoteFromAddress,
  splitByRate,
  unreadableIn,
  withQuotes,
} from './desk-draft.ts'
import { DraftTabs, draftName } from './desk-draft-tabs.tsx'
import { draftsMax, isBlankDraft } from './desk-drafts.ts'
import { MyApprovals } from './desk-my-approvals.tsx'
import { quoteOf } from './desk-paste.ts'
import { PasteDialog } from './desk-paste-dialog.tsx'
import { type Pricing, type RateValue, typedValue } from './desk-pricing.ts'
import { DeskButtons, DeskRows, QuotesTotals, useRowEvents } from './desk-quotes.tsx'
import { type RowFigures, useQuotesAdvice } from './desk-quotes-advice.ts'
import { RequestFields } from './desk-request-fields.tsx'
import { type DeskSave, useDeskSave } from './desk-save.ts'
import { Saved } from './desk-saved.tsx'
import { type ComparedQuote, useComparedQuote } from './desk-terms.ts'
import { type DraftActions, deskEntry, useDrafts } from './use-drafts.ts'

/** The page for quoting: fields with advice that updates while the user types, then the saved quotes. */
export default function QuoteDesk() {
  const saving = useDeskSave()
  const drafts = useDrafts(saving)
  const { saved } = saving
  return (
    <Page title="Quote desk" hidesTitle>
      {saved === null ? (
        <>
          <MyApprovals isFormBlank={isBlankDraft(drafts.draft)} />
          <DraftTabs {...drafts} />
          <Desk
            key={drafts.drafts.openId}
            draft={drafts.draft}
            onDraft={drafts.onDraft}
            saving={saving}
            drafts={drafts}
          />
        </>
      ) : (
        <Saved
          request={saved}
          next={isBlankDraft(drafts.draft) ? null : draftName(drafts.draft)}
          onNext={saving.reset}
          onNew={drafts.begin}
        />
      )}
    </Page>
  )
}

type Places = Pick<DeskQuote, 'origin' | 'destination' | 'equipment'>

function isSameLane(one: Places, other: Places): boolean {
  return (
    one.origin === other.origin && one.destination === other.destination && one.equipment === other.equipment
  )
}

const addressPauseMs = 300

/** Writes the active lane to the address, so that a reload, a bookmark or a colleague opens the same lane. */
function useQuoteInAddress({ origin, destination, equipment, rate }: DeskQuote, draftId: number) {
  const goOn = useOwnAddress(pagePaths.desk)
  const isComplete = hasState(origin) && hasState(destination)
  const address = JSON.stringify(
    isComplete ? { origin, destination, equipment, ...(rate.trim() === '' ? {} : { rate }) } : {},
  )
  const [settled] = useDebouncedValue(address, addressPauseMs)
  useEffect(() => {
    goOn({ search: JSON.parse(settled), replace: true, state: deskEntry({ deskDraft: draftId }) })
  }, [settled, goOn, draftId])
}

interface DeskProps {
  readonly draft: Draft
  readonly onDraft: (change: (draft: Draft) => Draft) => void
  readonly saving: DeskSave
  readonly drafts: DraftActions
}

/** The quotes of a draft, and the actions on them. */
function useQuotes({ draft, onDraft, saving }: DeskProps) {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string>>
  const [activeId, setActiveId] = useState(() => {
    const asked = quoteFromAddress(search)
    const found = asked === null ? undefined : draft.lanes.find((quote) => isSameLane(quote, asked))
    return (found ?? draft.lanes[0])?.id ?? 1
  })
  const notify = useNotice()
  const { lanes: quotes } = draft
  const active = quotes.find(({ id }) => id === activeId) ?? quotes[0] ?? blankQuote(1)
  const setQuotes = (change: (quotes: readonly DeskQuote[]) => readonly DeskQuote[]) =>
    onDraft((before) => ({ ...before, lanes: change(before.lanes) }))
  const go = (id: number, field?: TypedField) => {
    setActiveId(id)
    focusQuote(id, field)
  }
  const isFull = quotes.length >= quotesPerRequestMax
  const insertAfter = (quote: DeskQuote, made: DeskQuote) => {
    if (isFull) {
      notify(`A request can have ${quotesPerRequestMax} quotes. Save this request and start another.`, {
        failed: true,
      })
      return
    }
    setQuotes((all) => all.flatMap((one) => (one.id === quote.id ? [one, made] : [one])))
    go(made.id)
  }
  return {
    lanes: quotes,
    active,
    isFull,
    activate: ({ id }: DeskQuote) => setActiveId(id),
    change: ({ id }: DeskQuote, field: TypedField, text: string) => {
      setQuotes((all) => all.map((quote) => (quote.id === id ? { ...quote, [field]: text } : quote)))
      saving.forget(id, field)
    },
    addAfter: (quote: DeskQuote) => insertAfter(quote, blankQuote(nextId(quotes), quote.equipment)),
    duplicate: (quote: DeskQuote) => insertAfter(quote, { ...quote, id: nextId(quotes) }),
    /** Enter in the last field of a quote: moves to the next quote, or adds one after the last. */
    enter: (quote: DeskQuote) => {
      const next = quotes[quotes.indexOf(quote) + 1]
      if (next !== undefined) go(next.id)
      else if (!isBlank(quote)) insertAfter(quote, blankQuote(nextId(quotes), quote.equipment))
    },
    setRates: (rates: ReadonlyMap<number, number>) => {
      setQuotes((all) =>
        all.map((quote) => {
          const rate = rates.get(quote.id)
          return rate === undefined ? quote : { ...quote, rate: String(rate) }
        }),
      )
      for (const id of rates.keys()) saving.forget(id, 'rate')
    },
    remove: (quote: DeskQuote) => {
      if (quotes.length === 1) {
        // The form is blank again; the customer is removed, too.
        onDraft(() => ({ ...blankDraft(), lanes: [blankQuote(nextId(quotes))] }))
        focusCustomer()
        return
      }
      const at = quotes.indexOf(quote)
      const left = quotes.filter(({ id }) => id !== quote.id)
      setQuotes(() => left)
      go((left[at] ?? left.at(-1) ?? quote).id)
    },
    /** @param moves whether the focus moves to the added quotes */
    add: (added: readonly Omit<DeskQuote, 'id'>[], { named, moves }: { named: boolean; moves: boolean }) => {
      const all = withQuotes(quotes, added)
      setQuotes(() => all)
      const first = all[all.length - added.length]
      if (first !== undefined) {
        setActiveId(first.id)
        const next = all.slice(-added.length).find(({ rate }) => rate.trim() === '') ?? first
        // Runs after the dialog has closed and returned the focus, perhaps to a row that no longer exists.
        if (moves) focusAfterDialog(draft.customer.trim() === '' && !named ? null : next.id)
      }
      notify(`${counted(added.length, 'quote')} added`)
    },
  }
}

/** The advice for the active quote, for its card and for its row. */
function useActiveAdvice({ active, change }: ReturnType<typeof useQuotes>, draft: Draft) {
  const advised = useQuotesAdvice(draft, active)
  const compared = useComparedQuote(active, advised.open)
  const answer = useDeskAnswer(active, compared.lane, draft.customer, advised)
  const pricing = usePricing(compared.lane, answer)
  const setRate = (rate: number) => {
    const own = compared.own(rate)
    if (own !== null) change(active, 'rate', String(own))
  }
  const takeRate = (rate: number) => {
    setRate(rate)
    focusQuote(active.id, 'rate')
  }
  const typed =
    answer.advice === null || pricing === null
      ? null
      : typedValue(answer.advice, pricing, answer.rate, answer.exact)
  return {
    advised,
    answer,
    ofActive: figuresOfCard(active, pricing, typed, compared),
    card: {
      answer,
      pricing,
      typed,
      terms: compared,
      result: answer.exact,
      onRate: setRate,
      onUse: takeRate,
    },
  }
}

/** The figures of the card, for its row until the row's own advice has arrived. Both then show that advice. */
function figuresOfCard(
  { rate }: DeskQuote,
  pricing: Pricing | null,
  typed: RateValue | null,
  { own }: ComparedQuote,
): RowFigures | null {
  if (pricing === null) return null
  const isTyped = rate.trim() !== ''
  const value = isTyped ? typed : pricing.quote
  return {
    toQuote: own(pricing.quote.rate),
    rate: value?.rate ?? null,
    chance: value?.chance ?? null,
    margin: value?.margin ?? null,
    isTyped,
  }
}

/** The rows of the dialog for pasted rows. `nth` counts pastes: each begins without the choices for the last one. */
const nothingPasted = { isOpen: false, text: '', nth: 0 }

function Desk(props: DeskProps) {
  const { draft, onDraft, saving, drafts } = props
  const lanes = useQuotes(props)
  const [pasted, setPasted] = useState(nothingPasted)
  const [acceptUnknown, setAcceptUnknown] = useState(false)
  useQuoteInAddress(lanes.active, drafts.drafts.openId)
  const { advised, answer, ofActive, card } = useActiveAdvice(lanes, draft)
  const { pricing, onUse } = card
  const confirmed = useConfirmedSave(props, advised)
  const mayQuote = useMay('member')
  const save = useOnceSettled(() => {
    if (mayQuote) void confirmed.begin(acceptUnknown)
  })
  useDeskKeys(pricing === null ? null : () => onUse(pricing.quote.rate), drafts.begin)
  const filled = lanes.lanes.filter((quote) => !isBlank(quote)).length
  const paste = (text: string) => {
    // The dialog shows how each column was read before it adds the rows.
    if (looksLikeRows(text)) setPasted(({ nth }) => ({ isOpen: true, text, nth: nth + 1 }))
    return looksLikeRows(text)
  }
  const on = useRowEvents({ ...lanes, paste })
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: one keyboard shortcut for all fields inside
    <div onKeyDown={(event) => onSaveKey(event, save)}>
      <div className="desk-sides">
        <Paper withBorder p="xs">
          <Stack gap="xs" className="desk-lanes">
            <RequestFields draft={draft} onDraft={onDraft} saving={saving} paste={paste} />
            <DeskRows
              {...lanes}
              errors={errorsShown(saving.errors, lanes.active, answer)}
              unknown={answer.unknown}
              ofActive={ofActive}
              adviceOf={advised.on}
              on={on}
            />
            <QuotesTotals lanes={lanes.lanes} adviceOf={advised.on} onUseBest={lanes.setRates} />
            <DeskButtons
              laneCount={filled}
              isFull={lanes.isFull}
              isSaving={saving.saving || confirmed.checking}
              validHours={draft.validHours ?? null}
              onValidHours={(validHours) => onDraft((before) => ({ ...before, validHours }))}
              onAdd={() => lanes.addAfter(lanes.lanes.at(-1) ?? lanes.active)}
              hasPasted={pasted.text.trim() !== ''}
              onPaste={() => setPasted((before) => ({ ...before, isOpen: true }))}
              onSave={save}
            />
            <SaveRated {...props} begin={(rated) => void confirmed.begin(acceptUnknown, rated)} />
            <SaveProblems
              {...props}
              retry={save}
              acceptUnknown={acceptUnknown}
              onAcceptUnknown={setAcceptUnknown}
            />
          </Stack>
        </Paper>
        <DeskAdvice quote={lanes.active} number={lanes.lanes.indexOf(lanes.active) + 1} {...card} />
      </div>
      <ConfirmRates
        found={confirmed.toConfirm}
        onSave={() => confirmed.confirm(acceptUnknown)}
        onClose={confirmed.goBack}
      />
      <PasteQuotes
        key={pasted.nth}
        {...pasted}
        onText={(text) => setPasted((before) => ({ ...before, text }))}
        onClose={() => setPasted((before) => ({ ...before, isOpen: false }))}
        room={quotesPerRequestMax - filled}
        add={lanes.add}
        {...props}
      />
    </div>
  )
}

/** The dialog for pasted rows. Rows that name a customer set the customer of the request; those of other customers become drafts. */
function PasteQuotes({
  add,
  draft,
  onDraft,
  drafts,
  ...dialog
}: DeskProps &
  Pick<ComponentProps<typeof PasteDialog>, 'isOpen' | 'text' | 'onText' | 'onClose' | 'room'> & {
    add: ReturnType<typeof useQuotes>['add']
  }) {
  return (
    <PasteDialog
      {...dialog}
      draftsRoom={draftsMax - drafts.drafts.all.length}
      customer={draft.customer}
      onAdd={([own, ...others], closes) => {
        const { customer = null, rows = [] } = own ?? {}
        if (rows.length > 0) add(rows.map(quoteOf), { named: customer !== null, moves: closes })
        if (customer !== null) onDraft((before) => ({ ...before, customer }))
        drafts.addBeside(
          others.map((part) => ({
            ...blankDraft(),
            customer: part.customer ?? draft.customer,
            lanes: withQuotes([], part.rows.map(quoteOf)),
          })),
        )
      }}
    />
  )
}

/** When only some quotes have a rate: saves those, and keeps the others as a draft. */
function SaveRated({ draft, drafts, saving, begin }: DeskProps & { begin: (rated: Draft) => void }) {
  const split = saving.errors.some(({ field }) => field === 'rate') ? splitByRate(draft) : null
  if (split === null) return null
  const { rated, unrated } = split
  const save = () => {
    drafts.split(rated, unrated)
    begin(rated)
  }
  return (
    <Group gap="xs">
      <Text size="sm">
        {counted(unrated.lanes.length, 'quote')} still {unrated.lanes.length === 1 ? 'needs' : 'need'} a rate.
      </Text>
      <Button size="compact-sm" variant="default" onClick={save}>
        Save the {counted(rated.lanes.length, 'quote')} with a rate, keep the others as a draft
      </Button>
    </Group>
  )
}

function SaveProblems({
  saving,
  retry,
  draft,
  drafts,
  acceptUnknown,
  onAcceptUnknown,
}: {
  draft: Draft
  drafts: DraftActions
  saving: DeskSave
  retry: () => void
  acceptUnknown: boolean
  onAcceptUnknown: (accept: boolean) => void
}) {
  return (
    <>
      {saving.errors.some(({ unknownPlace }) => unknownPlace) && (
        <Checkbox
          label="These places are correct: save them as typed"
          checked={acceptUnknown}
          onChange={(event) => onAcceptUnknown(event.currentTarget.checked)}
        />
      )}
      {saving.failure !== null && <SaveFailed saving={saving} retry={retry} />}
      {saving.failure !== null && (
        <AskApproval
          failure={saving.failure}
          draft={draft}
          acceptUnknown={acceptUnknown}
          advice={saving.advice}
          onAsked={() => {
            // The quotes that wait for approval are no draft any more. Their state is above the form.
            drafts.discard(drafts.drafts.openId)
            focusCustomer()
          }}
        />
      )}
    </>
  )
}

/** True for pasted text with several cells or rows. The dialog shows how they were read before it adds them. */
function looksLikeRows(text: string): boolean {
  return /[\t\n\r]/.test(text.trim())
}

/** The errors to show: save errors, then unreadable amounts, then errors of the advice. */
function errorsShown(
  saveErrors: readonly DeskError[],
  active: DeskQuote,
  answer: ReturnType<typeof useDeskAnswer>,
): DeskError[] {
  return [
    ...saveErrors,
    ...notIn(saveErrors, unreadableIn(active)),
    ...adviceErrors(answer, active, saveErrors),
  ]
}

/** Errors of the advice request at the fields of the quote, except at fields that have a save error. */
function adviceErrors(
  { failure }: ReturnType<typeof useDeskAnswer>,
  quote: DeskQuote,
  saveErrors: readonly DeskError[],
): DeskError[] {
  const pointed = (failure?.errors ?? []).map(({ parameter = '', detail, ...error }) => ({
    ...error,
    pointer: `/lanes/0/${parameter === 'proposed_rate' ? 'quoted_rate' : parameter}`,
    detail: `lanes[0].${detail}`,
  }))
  return notIn(saveErrors, errorsAt(pointed, [quote]))
}

/** The found errors, except at fields that have an error in `shown`. */
function notIn(shown: readonly DeskError[], found: readonly DeskError[]): DeskError[] {
  return found.filter(
    ({ quoteId, field }) => !shown.some((error) => error.quoteId === quoteId && error.field === field),
  )
}

function SaveFailed({ saving, retry }: { saving: DeskSave; retry: () => void }) {
  const { failure, errors } = saving
  if (failure === null || failure.code === 'outside-rules') return null
  if (failure.status === 422 && failure.errors.length > 0) {
    return errors.length === 0 ? null : (
      <Text size="sm" role="alert" style={{ color: 'var(--mantine-color-error)' }}>
        Not saved: correct {counted(errors.length, 'field')}.
      </Text>
    )
  }
  if (!saving.mayBeSaved) {
    return <Failed error={failure} title="Not saved. Everything you typed is still here." retry={retry} />
  }
  return (
    <Stack gap="xs">
      <Failed
        error={failure}
        title="The service did not confirm the save. Everything you typed is still here."
        retry={retry}
      />
      <Text size="sm">
        The quote may have been saved. Saving again without changes does not create a second quote. Before you
        change anything, look for the quote under{' '}
        <Anchor component={Link} to={pagePaths.quotes} size="sm" underline="always">
          Quotes
        </Anchor>
        .
      </Text>
    </Stack>
  )
}
