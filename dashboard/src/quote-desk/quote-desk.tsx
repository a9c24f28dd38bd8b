import './desk.css'
import { Anchor, Button, Checkbox, Group, Paper, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { lanesPerRequestMax } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { useMay, useSession } from '../api/index.ts'
import { CustomerInput, counted, Failed, Page, useNotice, useOnceSettled } from '../shared-ui/index.ts'
import { DeskAdvice } from './desk-advice.tsx'
import { useDeskAnswer } from './desk-answer.ts'
import {
  blankDraft,
  blankLane,
  type DeskError,
  type DeskLane,
  type Draft,
  errorsAt,
  isBlank,
  keepDraft,
  keptDraft,
  type LaneField,
  laneFromAddress,
  nextId,
  unreadableIn,
  withLanes,
} from './desk-draft.ts'
import { PasteDialog } from './desk-paste-dialog.tsx'
import { DeskRow, KeyboardHint, type RowEvents } from './desk-rows.tsx'
import { type DeskSave, useDeskSave } from './desk-save.ts'
import { Saved } from './desk-saved.tsx'

/** The page for quoting: lane fields with advice that updates while the user types, then the saved quote. */
export default function QuoteDesk() {
  const { tenant } = useSession()
  const search = useSearch({ strict: false }) as Readonly<Record<string, string>>
  const navigate = useNavigate()
  const [draft, setDraft] = useState(() => draftWith(keptDraft(tenant.id), laneFromAddress(search)))
  useEffect(() => {
    // Removes the lane from the address, so that a reload does not add the lane again.
    if (laneFromAddress(search) !== null) void navigate({ to: pagePaths.desk, search: {}, replace: true })
  }, [search, navigate])
  const saving = useDeskSave()
  const { saved } = saving
  useEffect(() => keepDraft(tenant.id, saved === null ? draft : blankDraft()), [tenant.id, draft, saved])
  const begin = () => {
    setDraft(blankDraft())
    saving.reset()
  }
  return (
    <Page title="Quote desk" hint="Advice appears as you type. Nothing is quoted until you save.">
      {saved === null ? (
        <Desk draft={draft} onDraft={setDraft} saving={saving} />
      ) : (
        <Saved request={saved} onNew={begin} />
      )}
    </Page>
  )
}

/** Puts the lane from the address first, unless the draft has the lane already or is full. */
function draftWith(draft: Draft, lane: Omit<DeskLane, 'id'> | null): Draft {
  const isThere = draft.lanes.some(
    ({ origin, destination, equipment }) =>
      origin === lane?.origin && destination === lane.destination && equipment === lane.equipment,
  )
  if (lane === null || isThere || draft.lanes.length >= lanesPerRequestMax) return draft
  const lanes = withLanes(draft.lanes, [lane])
  return { ...draft, lanes: [...lanes.slice(-1), ...lanes.slice(0, -1)] }
}

interface DeskProps {
  readonly draft: Draft
  readonly onDraft: (change: (draft: Draft) => Draft) => void
  readonly saving: DeskSave
}

function focusLane(id: number, field: LaneField = 'origin'): void {
  setTimeout(() => document.querySelector<HTMLElement>(`[data-field="${id}-${field}"]`)?.focus(), 0)
}

/** The lanes of a draft, and the actions on them. */
function useLanes({ draft, onDraft, saving }: DeskProps) {
  const [activeId, setActiveId] = useState(draft.lanes[0]?.id ?? 1)
  const notify = useNotice()
  const { lanes } = draft
  const active = lanes.find(({ id }) => id === activeId) ?? lanes[0] ?? blankLane(1)
  const setLanes = (change: (lanes: readonly DeskLane[]) => readonly DeskLane[]) =>
    onDraft((before) => ({ ...before, lanes: change(before.lanes) }))
  const go = (id: number, field?: LaneField) => {
    setActiveId(id)
    focusLane(id, field)
  }
  const isFull = lanes.length >= lanesPerRequestMax
  const insertAfter = (lane: DeskLane, made: DeskLane) => {
    if (isFull) {
      notify(`A request can have ${lanesPerRequestMax} lanes. Save this one and start another.`, {
        failed: true,
      })
      return
    }
    setLanes((all) => all.flatMap((one) => (one.id === lane.id ? [one, made] : [one])))
    go(made.id)
  }
  return {
    lanes,
    active,
    isFull,
    activate: ({ id }: DeskLane) => setActiveId(id),
    change: ({ id }: DeskLane, field: LaneField, text: string) => {
      setLanes((all) => all.map((lane) => (lane.id === id ? { ...lane, [field]: text } : lane)))
      saving.forget(id, field)
    },
    addAfter: (lane: DeskLane) => insertAfter(lane, blankLane(nextId(lanes), lane.equipment)),
    duplicate: (lane: DeskLane) => insertAfter(lane, { ...lane, id: nextId(lanes) }),
    /** Enter in the last field of a lane: moves to the next lane, or adds a lane after the last one. */
    enter: (lane: DeskLane) => {
      const next = lanes[lanes.indexOf(lane) + 1]
      if (next !== undefined) go(next.id)
      else if (!isBlank(lane)) insertAfter(lane, blankLane(nextId(lanes), lane.equipment))
    },
    remove: (lane: DeskLane) => {
      const at = lanes.indexOf(lane)
      const left = lanes.filter(({ id }) => id !== lane.id)
      const kept = left.length === 0 ? [blankLane(nextId(lanes))] : left
      setLanes(() => kept)
      go((kept[at] ?? kept.at(-1) ?? lane).id)
    },
    add: (added: readonly Omit<DeskLane, 'id'>[]) => {
      const all = withLanes(lanes, added)
      setLanes(() => all)
      setActiveId(all[all.length - added.length]?.id ?? activeId)
      notify(`${counted(added.length, 'lane')} added`)
    },
  }
}

type Lanes = ReturnType<typeof useLanes>

function Desk(props: DeskProps) {
  const { draft, onDraft, saving } = props
  const lanes = useLanes(props)
  const [pasted, setPasted] = useState<string | null>(null)
  const [acceptUnknown, setAcceptUnknown] = useState(false)
  const answer = useDeskAnswer(lanes.active)
  const mayQuote = useMay('member')
  const save = useOnceSettled(() => {
    if (mayQuote) saving.save(draft, acceptUnknown)
  })
  const filled = lanes.lanes.filter((lane) => !isBlank(lane)).length
  const room = lanesPerRequestMax - filled
  const paste = (text: string): boolean => {
    if (!/[\t\n\r]/.test(text.trim())) return false
    // The dialog shows how each column was read before it adds the rows.
    setPasted(text)
    return true
  }
  const keys = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    save()
  }
  const on = useRowEvents({ ...lanes, paste })
  const saveErrors = saving.errors
  const errors = [
    ...saveErrors,
    ...notIn(saveErrors, unreadableIn(lanes.active)),
    ...adviceErrors(answer, lanes.active, saveErrors),
  ]
  const setRate = (rate: number) => lanes.change(lanes.active, 'rate', String(rate))
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: one keyboard shortcut for all fields inside
    <div onKeyDown={keys}>
      <Stack gap="md">
        <Paper withBorder p="sm">
          <Stack gap="sm">
            <RequestFields draft={draft} onDraft={onDraft} saving={saving} />
            <LaneRows lanes={lanes} errors={errors} unknown={answer.unknown} on={on} />
            <DeskButtons
              lanes={lanes}
              laneCount={filled}
              isSaving={saving.saving}
              onPaste={() => setPasted('')}
              onSave={save}
            />
            {saving.errors.some(({ unknownPlace }) => unknownPlace) && (
              <Checkbox
                label="These places are correct: save them as typed"
                checked={acceptUnknown}
                onChange={(event) => setAcceptUnknown(event.currentTarget.checked)}
              />
            )}
            {saving.failure !== null && <SaveFailed saving={saving} retry={save} />}
          </Stack>
        </Paper>
        <DeskAdvice
          lane={lanes.active}
          number={lanes.lanes.indexOf(lanes.active) + 1}
          answer={answer}
          onRate={setRate}
        />
      </Stack>
      <PasteDialog
        text={pasted}
        room={room}
        onText={setPasted}
        customer={draft.customer}
        onAdd={(added, customer) => {
          lanes.add(added)
          if (customer !== null) onDraft((before) => ({ ...before, customer }))
        }}
        onClose={() => setPasted(null)}
      />
    </div>
  )
}

function LaneRows({
  lanes: { lanes, active },
  errors,
  unknown,
  on,
}: {
  lanes: Lanes
  errors: readonly DeskError[]
  unknown: ReturnType<typeof useDeskAnswer>['unknown']
  on: RowEvents
}) {
  return (
    <div className="desk-rows" data-many={lanes.length > 7 || undefined}>
      {lanes.map((lane, index) => (
        <DeskRow
          key={lane.id}
          lane={lane}
          number={index + 1}
          active={lane.id === active.id}
          only={lanes.length === 1}
          errors={errorsOf(errors, lane)}
          unknown={lane.id === active.id ? unknown : nothingUnknown}
          on={on}
        />
      ))}
    </div>
  )
}

function DeskButtons({
  lanes,
  laneCount,
  isSaving,
  onPaste,
  onSave,
}: {
  lanes: Lanes
  laneCount: number
  isSaving: boolean
  onPaste: () => void
  onSave: () => void
}) {
  const mayQuote = useMay('member')
  return (
    <>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Button
            variant="default"
            size="sm"
            disabled={lanes.isFull}
            onClick={() => lanes.addAfter(lanes.lanes.at(-1) ?? lanes.active)}
          >
            Add a lane
          </Button>
          <Button variant="default" size="sm" onClick={onPaste}>
            Paste rows
          </Button>
        </Group>
        <Button
          disabled={!mayQuote}
          loading={isSaving}
          onClick={onSave}
          aria-keyshortcuts="Control+Enter Meta+Enter"
        >
          {laneCount > 1 ? `Save ${laneCount} lanes` : 'Save quote'}
        </Button>
      </Group>
      {mayQuote ? (
        <KeyboardHint />
      ) : (
        <Text size="sm">
          Your role, viewer, can get advice but cannot save quotes. An owner or admin can change your role on
          the Team page.
        </Text>
      )}
    </>
  )
}

const noErrors: readonly DeskError[] = []

function errorsOf(errors: readonly DeskError[], lane: DeskLane): readonly DeskError[] {
  const own = errors.filter(({ laneId }) => laneId === lane.id)
  return own.length === 0 ? noErrors : own
}

/** Row events with a stable identity that call the handlers of the latest render. */
function useRowEvents(events: RowEvents): RowEvents {
  const latest = useRef(events)
  useLayoutEffect(() => {
    latest.current = events
  })
  return useMemo(
    () => ({
      change: (...event) => latest.current.change(...event),
      activate: (lane) => latest.current.activate(lane),
      enter: (lane) => latest.current.enter(lane),
      duplicate: (lane) => latest.current.duplicate(lane),
      remove: (lane) => latest.current.remove(lane),
      paste: (text) => latest.current.paste(text),
    }),
    [],
  )
}

const nothingUnknown = { origin: false, destination: false }

/** Errors of the advice request at the fields of the lane, except at fields that have a save error. */
function adviceErrors(
  { failure }: ReturnType<typeof useDeskAnswer>,
  lane: DeskLane,
  saveErrors: readonly DeskError[],
): DeskError[] {
  const pointed = (failure?.errors ?? []).map(({ parameter = '', detail, ...error }) => ({
    ...error,
    pointer: `/lanes/0/${parameter === 'proposed_rate' ? 'quoted_rate' : parameter}`,
    detail: `lanes[0].${detail}`,
  }))
  return notIn(saveErrors, errorsAt(pointed, [lane]))
}

/** The found errors, except at fields that have an error in `shown`. */
function notIn(shown: readonly DeskError[], found: readonly DeskError[]): DeskError[] {
  return found.filter(
    ({ laneId, field }) => !shown.some((error) => error.laneId === laneId && error.field === field),
  )
}

function SaveFailed({ saving, retry }: { saving: DeskSave; retry: () => void }) {
  const { failure, errors } = saving
  if (failure === null) return null
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

function RequestFields({ draft, onDraft, saving }: DeskProps) {
  const [isFresh] = useState(draft.customer === '')
  useEffect(() => {
    // Not on touch screens, where the on-screen keyboard would cover half the page.
    if (isFresh && window.matchMedia('(pointer: fine)').matches) {
      document.querySelector<HTMLElement>('[data-field="customer"]')?.focus({ preventScroll: true })
    }
  }, [isFresh])
  const errorOf = (field: 'customer' | 'reference') =>
    saving.errors.find((error) => error.laneId === null && error.field === field)?.text
  const set = (field: 'customer' | 'reference', text: string) => {
    onDraft((before) => ({ ...before, [field]: text }))
    saving.forget(null, field)
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" px="xs">
      <CustomerInput
        label="Customer"
        takes="name-as-typed"
        openOnFocus={false}
        data-field="customer"
        value={draft.customer}
        error={errorOf('customer')}
        onChange={(text) => set('customer', text)}
      />
      <TextInput
        label="Reference (optional)"
        data-field="reference"
        autoComplete="off"
        value={draft.reference}
        error={errorOf('reference')}
        onChange={(event) => set('reference', event.currentTarget.value)}
      />
    </SimpleGrid>
  )
}
