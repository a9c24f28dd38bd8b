import { NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { typingPauseMs } from '#client/debounce.ts'
import { type CallFailed, useAnswer } from '../api/index.ts'
import type { AddressWords } from './address.ts'
import { CustomerInput, EquipmentInput, PlaceInput } from './lane-inputs.tsx'

const isWhole: Readonly<Record<string, (text: string) => boolean>> = {
  origin: (text) => /,\s*\S{2,}$/.test(text),
  destination: (text) => /,\s*\S{2,}$/.test(text),
  equipment: (text) => /^[A-Za-z0-9_-]{1,20}$/.test(text) || /^[A-Za-z]+ [A-Za-z]+( [A-Za-z]+)?$/.test(text),
}

type Change = (words: AddressWords, options?: { replace?: boolean }) => void

interface FiltersProps {
  readonly search: AddressWords
  readonly change: Change
  /** Where the service refused what was asked, so that the field says why. */
  readonly error: CallFailed | null
}

/**
 * The text of a field that filters, and ways to send it to the address once it is whole ("Dallas" is no place yet). What
 * the address says otherwise shows in the field.
 */
function useTypedFilter(name: string, { search, change }: FiltersProps) {
  const held = search[name] ?? ''
  const [typed, setTyped] = useState(held)
  const sent = useRef(held)
  useEffect(() => {
    // Back and forward, or a cleared filter; not the field's own word coming home.
    if (held !== sent.current) setTyped(held)
    sent.current = held
  }, [held])
  const sendNow = (text: string) => {
    const value = text.trim()
    if (value === (search[name] ?? '') || (value !== '' && isWhole[name]?.(value) === false)) return
    sent.current = value
    change({ [name]: value }, { replace: true })
  }
  const sendAfterPause = useDebouncedCallback(sendNow, typingPauseMs)
  return { typed, setTyped, sendNow, sendAfterPause }
}

/** A field whose text filters while one types. */
function useFilterWhileTyping(name: string, filters: FiltersProps) {
  const { typed, setTyped, sendNow, sendAfterPause } = useTypedFilter(name, filters)
  const onChange = (text: string) => {
    setTyped(text)
    sendAfterPause(text)
  }
  return { value: typed, onChange, onDone: sendNow }
}

/** A field whose text filters once it is final, because half a name finds nothing. */
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

/** Only lanes from one place to another. */
export function PlaceFilters(filters: FiltersProps) {
  return (
    <>
      <PlaceFilter name="origin" label="Origin" {...filters} />
      <PlaceFilter name="destination" label="Destination" {...filters} />
    </>
  )
}

/** Only lanes of a customer, an equipment type, or a rep. */
export function WhoFilters(filters: FiltersProps) {
  const customer = useFilterOnceChosen('customer', filters)
  const equipment = useFilterWhileTyping('equipment', filters)
  return (
    <>
      <CustomerInput
        label="Customer"
        takes="known-customer"
        {...customer}
        error={filters.error?.fieldError('customer')}
      />
      <EquipmentInput label="Equipment" {...equipment} error={filters.error?.fieldError('equipment')} />
      <PersonFilter {...filters} name="quoted_by" label="Rep" />
    </>
  )
}

/** Only what a person did. */
export function PersonFilter({
  name,
  label,
  search,
  change,
}: Pick<FiltersProps, 'search' | 'change'> & { name: string; label: string }) {
  const users = useAnswer('list-users', {}, { staleMs: 300_000 })
  const chosen = search[name] ?? ''
  const known = (users.data?.users ?? []).map((user) => ({ value: String(user.id), label: user.name }))
  const isMissing = chosen !== '' && !known.some(({ value }) => value === chosen)
  return (
    <NativeSelect
      label={label}
      value={chosen}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
      data={[
        { value: '', label: 'Anyone' },
        ...known,
        ...(isMissing ? [{ value: chosen, label: users.isPending ? '…' : 'No longer here' }] : []),
      ]}
    />
  )
}

/** Words to find in a lane's texts. */
export function SearchFilter(filters: FiltersProps) {
  const { value, onChange } = useFilterWhileTyping('q', filters)
  return (
    <TextInput
      type="search"
      label="Search"
      placeholder="Words to find"
      leftSection={<IconSearch size={16} aria-hidden />}
      value={value}
      error={filters.error?.fieldError('q')}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** The rows in which filters stand, as many beside each other as there is room for. */
export function FilterRow({ label, children }: { label: string; children: ReactNode }) {
  return (
    <search
      aria-label={label}
      style={{
        display: 'grid',
        gridTemplateColumns: 'repeat(auto-fill, minmax(9.5rem, 1fr))',
        gap: 'var(--mantine-spacing-sm)',
      }}
    >
      {children}
    </search>
  )
}
