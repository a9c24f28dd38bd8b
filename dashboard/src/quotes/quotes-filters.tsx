import { IconFilter, IconSearch } from 'virtual:tabler-icons'
import { Button, Collapse, Group, NativeSelect, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { pendingDaysMax } from '#contract/limits.ts'
import type { CallFailed } from '../api/index.ts'
import {
  ChoiceFilter,
  CustomerInput,
  EquipmentInput,
  ModeFilter,
  outcomeNames,
  PersonFilter,
  PlaceInput,
  RateTypeFilter,
  reasonNames,
  useOnceSettled,
} from '../shared-ui/index.ts'
import { offersOf, type QuotesPlace } from './quotes-address.ts'
import { sortNames } from './quotes-columns.tsx'

const searchPauseMs = 300
const draftNames = [
  'pending_days',
  'customer',
  'carrier',
  'origin',
  'destination',
  'equipment',
  'from',
  'to',
] as const

/** The labels of the filters for the quotes behind a figure of Results. */
const findingNames = {
  lost_to_cost: 'Lost to cost',
  lost_to_rate: 'Lost to rate',
  landed_vs_quoted: 'Landed vs quoted',
  quoted_too_low: 'Quoted too low',
  booked_at_a_loss: 'Booked at a loss',
} as const
type DraftName = (typeof draftNames)[number]

/** Whether the person opened the filters in this tab. A link that sets filters leaves them closed: the button has their number. */
let wereOpened = false

/**
 * The line of controls above the list, and the filters below it. Typed text applies on Enter, on accepting a suggestion, or when
 * the field loses the focus.
 */
export function QuotesFilters({
  place,
  error,
  views,
  actions,
}: {
  place: QuotesPlace
  error: CallFailed | null
  views: ReactNode
  actions: ReactNode
}) {
  const { view, filtersSet } = place
  const [isOpen, setIsOpen] = useState(wereOpened && filtersSet > 0)
  const toggle = () => {
    wereOpened = !isOpen
    setIsOpen(wereOpened)
  }
  return (
    <Stack gap="sm">
      <Group gap={6}>
        {views}
        <SegmentedControl
          size="xs"
          aria-label="Outcome"
          // Seven outcomes are wider than a phone: the control scrolls, not the page.
          style={{ maxWidth: '100%', overflowX: 'auto' }}
          value={view.outcome ?? (view.pending_days === undefined ? '' : 'pending')}
          onChange={(outcome) =>
            place.change({
              outcome,
              ...(outcome === 'lost' ? {} : { reason: '' }),
              ...(outcome === 'pending' ? {} : { pending_days: '' }),
            })
          }
          data={[
            { value: '', label: 'All' },
            ...(['pending', 'won', 'lost', 'expired', 'superseded'] as const).map((value) => ({
              value,
              label: outcomeNames[value],
            })),
            { value: 'void', label: 'Void' },
          ]}
        />
        <Search place={place} />
        <NativeSelect
          size="xs"
          aria-label="Order"
          w={136}
          data={Object.entries(sortNames).map(([value, label]) => ({ value, label }))}
          value={view.sort ?? 'newest'}
          onChange={(event) => place.change({ sort: event.currentTarget.value })}
        />
        <Button
          size="xs"
          variant={filtersSet === 0 ? 'default' : 'light'}
          leftSection={<IconFilter size={14} aria-hidden />}
          aria-expanded={isOpen}
          aria-controls="quotes-filters"
          onClick={toggle}
        >
          {filtersSet === 0 ? 'Filters' : `Filters (${filtersSet})`}
        </Button>
        {actions}
      </Group>
      <Collapse expanded={isOpen} id="quotes-filters">
        <Fields place={place} error={error} />
      </Collapse>
    </Stack>
  )
}

function Search({ place }: { place: QuotesPlace }) {
  const asked = place.view.q ?? ''
  const [typed, setTyped] = useState(asked)
  useEffect(() => setTyped(asked), [asked])
  const { change } = place
  // biome-ignore lint/correctness/useExhaustiveDependencies: it waits for a pause in typing, not for the address
  useEffect(() => {
    if (typed.trim() === asked) return
    const pause = setTimeout(() => change({ q: typed.trim() }, asked !== ''), searchPauseMs)
    return () => clearTimeout(pause)
  }, [typed])
  return (
    <TextInput
      size="xs"
      type="search"
      aria-label="Search quotes"
      placeholder="Ref, customer, carrier, city"
      leftSection={<IconSearch size={14} aria-hidden />}
      style={{ flex: '1 1 8rem' }}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  )
}

/** False while the year of a date is still being typed. */
function isWholeDay(day: string): boolean {
  return day === '' || /^(19[7-9]|2[01])\d/.test(day)
}

/** Only a lost quote has a reason. */
const onlyLost = { outcome: 'lost', pending_days: '' }

function Fields({ place, error }: { place: QuotesPlace; error: CallFailed | null }) {
  const { view, change } = place
  const [drafts, setDrafts] = useState<Partial<Record<DraftName, string>>>({})
  const value = (name: DraftName) => drafts[name] ?? view[name] ?? ''
  const commit = (final: Partial<Record<DraftName, string>>) => {
    // Keeps the drafts of other fields, which may wait for a suggestion.
    setDrafts((all) => Object.fromEntries(Object.entries(all).filter(([name]) => !(name in final))))
    const differing = Object.entries(final).filter(
      ([name, text]) => text.trim() !== (view[name as DraftName] ?? ''),
    )
    if (differing.length === 0) return
    const changed = Object.fromEntries(differing.map(([name, text]) => [name, text.trim()]))
    // Clears the outcome, because only pending quotes can be pending for days.
    change({ ...changed, ...((changed.pending_days ?? '') === '' ? {} : { outcome: '', reason: '' }) })
  }
  const typed = (name: DraftName) => ({
    size: 'xs',
    value: value(name),
    error: error?.fieldError(name),
    onChange: (text: string) => setDrafts((all) => ({ ...all, [name]: text })),
    onDone: (text: string) => commit({ [name]: text }),
  })
  const dated = (name: 'from' | 'to') => ({
    size: 'xs',
    type: 'date',
    value: value(name),
    error: error?.fieldError(name),
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      isWholeDay(currentTarget.value)
        ? commit({ [name]: currentTarget.value })
        : setDrafts((all) => ({ ...all, [name]: currentTarget.value })),
    onBlur: () => commit({ [name]: value(name) }),
  })
  const choice = { size: 'xs', search: view, change } as const
  const commitDrafts = useOnceSettled(() => commit(drafts))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    commitDrafts()
  }
  return (
    <form onSubmit={submit} className="quotes-filters" aria-label="Filters">
      <CustomerInput label="Customer" {...typed('customer')} />
      <PlaceInput label="Origin" {...typed('origin')} />
      <PlaceInput label="Destination" {...typed('destination')} />
      <EquipmentInput label="Equipment" {...typed('equipment')} />
      <RateTypeFilter {...choice} />
      <ModeFilter {...choice} />
      <PersonFilter size="xs" name="quoted_by" label="Rep" search={view} change={(patch) => change(patch)} />
      <ChoiceFilter
        {...choice}
        name="reason"
        label="Loss reason"
        all="Any reason"
        names={reasonNames}
        change={({ reason = '' }) => change(reason === '' ? { reason } : { reason, ...onlyLost })}
      />
      <TextInput
        size="xs"
        type="number"
        label="Pending for days"
        placeholder="Any"
        min={1}
        max={pendingDaysMax}
        value={value('pending_days')}
        error={error?.fieldError('pending_days')}
        onChange={({ currentTarget }) => setDrafts((all) => ({ ...all, pending_days: currentTarget.value }))}
        onBlur={() => commit({ pending_days: value('pending_days') })}
      />
      <CarrierInput {...typed('carrier')} />
      <ChoiceFilter {...choice} name="finding" label="Money" all="Any quote" names={findingNames} />
      <OffersFilter place={place} />
      <TextInput label="Quoted from" {...dated('from')} />
      <TextInput label="Quoted to" {...dated('to')} />
      <button type="submit" hidden>
        Filter
      </button>
    </form>
  )
}

function OffersFilter({ place: { view, change } }: { place: QuotesPlace }) {
  const isByOutcome = offersOf({ ...view, offers: '' }) !== ''
  return (
    <ChoiceFilter
      size="xs"
      name="offers"
      label="Offers"
      all="All offers for a load"
      names={{ last: 'Without superseded ones', superseded: 'Superseded ones' }}
      search={{ offers: offersOf(view) ?? '' }}
      change={change}
      disabled={isByOutcome}
      title={isByOutcome ? 'The outcome above decides' : undefined}
    />
  )
}

function CarrierInput({
  onChange,
  onDone,
  ...field
}: {
  size: string
  value: string
  error: string | undefined
  onChange: (text: string) => void
  onDone: (text: string) => void
}) {
  return (
    <TextInput
      {...field}
      label="Carrier"
      onChange={(event) => onChange(event.currentTarget.value)}
      onBlur={(event) => onDone(event.currentTarget.value)}
    />
  )
}
