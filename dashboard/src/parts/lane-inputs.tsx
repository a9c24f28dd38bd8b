import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type FocusEvent, useState } from 'react'
import { useAnswer } from '../answers.ts'
import { counted, equipmentName } from './formats.ts'

type InputProps = Omit<AutocompleteProps, 'data' | 'value' | 'onChange' | 'filter'> & {
  value: string
  onChange: (value: string) => void
}

const typingPauseMs = 120
const offeredMax = 8

/** What the service offers is offered as it is: it has matched and ordered already. */
const asOffered = ({ options }: { options: unknown[] }) => options as never

/** Offers are asked for only where somebody types: a page may hold a hundred such fields. */
function useEntered(onFocus: AutocompleteProps['onFocus']) {
  const [entered, setEntered] = useState(false)
  return {
    entered,
    enter: (event: FocusEvent<HTMLInputElement>) => {
      setEntered(true)
      onFocus?.(event)
    },
  }
}

/** A pickup or delivery place, with offers while one types. What is typed is sent as it is; the service reads it. */
export function PlaceInput({ value, onChange, onFocus, ...more }: InputProps) {
  const { entered, enter } = useEntered(onFocus)
  const [typed] = useDebouncedValue(value.trim(), typingPauseMs)
  const places = useAnswer(
    'suggest-places',
    { query: { q: typed, limit: offeredMax } },
    { enabled: entered, keeps: true, staleMs: 300_000 },
  )
  return (
    <Autocomplete
      placeholder="City, ST"
      autoComplete="off"
      spellCheck={false}
      {...more}
      onFocus={enter}
      data={places.data?.places.map(({ place }) => place) ?? []}
      filter={asOffered}
      value={value}
      onChange={onChange}
      selectFirstOptionOnChange={value.trim().length >= 3 && !/,\s*\w{2}$/.test(value)}
    />
  )
}

/** A customer's name; the names quoted before are offered, so that one customer stays one. */
export function CustomerInput({ value, onChange, onFocus, ...more }: InputProps) {
  const { entered, enter } = useEntered(onFocus)
  const [typed] = useDebouncedValue(value.trim(), typingPauseMs)
  const customers = useAnswer(
    'suggest-customers',
    { query: { q: typed, limit: offeredMax } },
    { enabled: entered, keeps: true, staleMs: 60_000 },
  )
  const quotesOf = new Map(customers.data?.customers.map(({ name, quotes }) => [name, quotes]))
  return (
    <Autocomplete
      autoComplete="off"
      {...more}
      onFocus={enter}
      data={[...quotesOf.keys()]}
      filter={asOffered}
      renderOption={({ option }: { option: { value: string } }) => (
        <span>
          {option.value} <small>({counted(quotesOf.get(option.value) ?? 0, 'quote')})</small>
        </span>
      )}
      value={value}
      onChange={onChange}
    />
  )
}

const commonEquipment = ['V', 'R', 'F', 'SD', 'PO', 'HS', 'CON']

/** An equipment code: the usual ones are offered, any other is taken as typed. */
export function EquipmentInput({ value, onChange, ...more }: InputProps) {
  return (
    <Autocomplete
      autoComplete="off"
      spellCheck={false}
      {...more}
      data={commonEquipment}
      filter={asOffered}
      renderOption={({ option }: { option: { value: string } }) => equipmentName(option.value)}
      value={value}
      onChange={onChange}
    />
  )
}
