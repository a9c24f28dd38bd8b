import { IconSearch } from 'virtual:tabler-icons'
import { NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { typingPauseMs } from '#client/debounce.ts'
import { type CallFailed, useAnswer } from '../api/index.ts'
import type { AddressParams } from './address.ts'
import { CustomerInput, EquipmentInput, PlaceInput } from './lane-inputs.tsx'
import { RateTypeFilter } from './rate-type.tsx'

const hasState = (text: string) => text.includes(',') && /^\s*\S{2,}$/.test(text.split(',').at(-1) ?? '')

const isComplete: Readonly<Record<string, (text: string) => boolean>> = {
  origin: hasState,
  destination: hasState,
  equipment: (text) => /^[A-Za-z0-9_-]{1,20}$/.test(text) || /^[A-Za-z]+ [A-Za-z]+( [A-Za-z]+)?$/.test(text),
}

type Change = (params: AddressParams, options?: { replace?: boolean }) => void

interface FiltersProps {
  readonly search: AddressParams
  readonly change: Change
  /** The error of the list's request. A field shows the error of its parameter. */
  readonly error: CallFailed | null
}

/**
 * The text of a filter field, with functions that write it to the address once it is complete ("Dallas" is not yet a
 * place). When the address changes otherwise, the field shows the new value.
 */
function useTypedFilter(name: string, { search, change }: FiltersProps) {
  const current = search[name] ?? ''
  const [typed, setTyped] = useState(current)
  const sent = useRef(current)
  useEffect(() => {
    // The address changed through Back, Forward or a cleared filter, not through this field.
    if (current !== sent.current) setTyped(current)
    sent.current = current
  }, [current])
  const sendNow = (text: string) => {
    const value = text.trim()
    if (value === (search[name] ?? '') || (value !== '' && isComplete[name]?.(value) === false)) return
    sent.current = value
    change({ [name]: value }, { replace: true })
  }
  const sendAfterPause = useDebouncedCallback(sendNow, typingPauseMs)
  return { typed, setTyped, sendNow, sendAfterPause }
}

/** A field that filters while the user types. */
function useFilterWhileTyping(name: string, filters: FiltersProps) {
  const { typed, setTyped, sendNow, sendAfterPause } = useTypedFilter(name, filters)
  const onChange = (text: string) => {
    setTyped(text)
    sendAfterPause(text)
  }
  return { value: typed, onChange, onDone: sendNow }
}

/** A field that filters once its text is final, because the filter matches only full names. */
function useFilterOnceChosen(name: string, filters: FiltersProps) {
  const { typed, setTyped, sendNow } = useTypedFilter(name, filters)
  return {
    value: typed,
    onChange: (text: string) => {
      setTyped(text)
      if (text === '') sendNow('')
    },
    onDone: sendNow,
  }
}

function PlaceFilter({ name, label, ...filters }: FiltersProps & { name: string; label: string }) {
  const field = useFilterWhileTyping(name, filters)
  return <PlaceInput label={label} {...field} error={filters.error?.fieldError(name)} />
}

export function PlaceFilters(filters: FiltersProps) {
  return (
    <>
      <PlaceFilter name="origin" label="Origin" {...filters} />
      <PlaceFilter name="destination" label="Destination" {...filters} />
    </>
  )
}

/** Filters by customer, equipment, spot or contract, and rep. */
export function WhoFilters(filters: FiltersProps) {
  const customer = useFilterOnceChosen('customer', filters)
  const equipment = useFilterWhileTyping('equipment', filters)
  return (
    <>
      <CustomerInput label="Customer" {...customer} error={filters.error?.fieldError('customer')} />
      <EquipmentInput label="Equipment" {...equipment} error={filters.error?.fieldError('equipment')} />
      <RateTypeFilter search={filters.search} change={filters.change} />
      <PersonFilter {...filters} name="quoted_by" label="Rep" />
    </>
  )
}

/**
 * People as choices of a field. Those who share a name are told apart by their email address.
 * @example peopleChoices(users) // [{ value: '7', label: 'Rita Rep (rita@summit.example)' }, ...]
 */
export function peopleChoices(
  people: readonly { readonly id: number; readonly name: string; readonly email: string }[],
): { readonly value: string; readonly label: string }[] {
  const shared = (name: string) => people.filter((one) => one.name === name).length > 1
  return people.map(({ id, name, email }) => ({
    value: String(id),
    label: shared(name) ? `${name} (${email})` : name,
  }))
}

/**
 * The names of people as `peopleChoices` writes them, for a page that lists people by id. A person who left keeps the name of the answer.
 *
 * @example useNameOfPerson()({ id: 7, name: 'Rita Rep' }) // 'Rita Rep (rita@summit.example)'
 */
export function useNameOfPerson(
  isAsked = true,
): (person: { readonly id: number; readonly name: string }) => string {
  const { data } = useAnswer('list-users', {}, { staleMs: 300_000, enabled: isAsked })
  const labels = new Map(peopleChoices(data?.users ?? []).map(({ value, label }) => [value, label]))
  return ({ id, name }) => labels.get(String(id)) ?? name
}

export function PersonFilter({
  name,
  label,
  search,
  change,
  size,
}: Pick<FiltersProps, 'search' | 'change'> & { name: string; label: string; size?: 'xs' }) {
  const users = useAnswer('list-users', {}, { staleMs: 300_000 })
  const chosen = search[name] ?? ''
  const known = peopleChoices(users.data?.users ?? [])
  const isMissing = chosen !== '' && !known.some(({ value }) => value === chosen)
  return (
    <NativeSelect
      {...(size === undefined ? {} : { size })}
      label={label}
      value={chosen}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
      data={[
        { value: '', label: 'Anyone' },
        ...known,
        ...(isMissing ? [{ value: chosen, label: users.isPending ? '…' : 'Former user' }] : []),
      ]}
    />
  )
}

export function SearchFilter(filters: FiltersProps) {
  const { value, onChange } = useFilterWhileTyping('q', filters)
  return (
    <TextInput
      type="search"
      label="Search"
      placeholder="Search text"
      leftSection={<IconSearch size={16} aria-hidden />}
      value={value}
      error={filters.error?.fieldError('q')}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** A grid of filter fields that wraps to the available width. */
export function FilterRow({ label, children }: { label: string; children: ReactNode }) {
  return (
    <search
      aria-label={label}
      style={{
        display: 'grid',
        // As wide as "Spot and contract"; on a phone two in a row.
        gridTemplateColumns:
          'repeat(auto-fill, minmax(min(10.75rem, calc(50% - var(--mantine-spacing-sm))), 1fr))',
        gap: 'var(--mantine-spacing-sm)',
      }}
    >
      {children}
    </search>
  )
}
