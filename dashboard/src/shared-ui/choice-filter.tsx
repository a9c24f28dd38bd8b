import { NativeSelect } from '@mantine/core'
import type { AddressParams } from './address.ts'

/** A filter of a list, and the parameters of the address that hold it. */
export interface FilterField {
  readonly search: AddressParams
  readonly change: (params: AddressParams) => void
  readonly size?: 'xs' | 'sm'
}

/**
 * Filters by one of several values of an address parameter. A value that is not among them filters nothing.
 *
 * @param all the label of no filter
 * @param names the label of each value
 */
export function ChoiceFilter({
  name,
  label,
  all,
  names,
  search,
  change,
  size = 'sm',
  ...field
}: FilterField & {
  readonly name: string
  readonly label: string
  readonly all: string
  readonly names: Readonly<Record<string, string>>
  readonly disabled?: boolean
  readonly title?: string | undefined
}) {
  const chosen = search[name] ?? ''
  return (
    <NativeSelect
      {...field}
      size={size}
      label={label}
      data={[
        { value: '', label: all },
        ...Object.entries(names).map(([value, text]) => ({ value, label: text })),
      ]}
      value={Object.hasOwn(names, chosen) ? chosen : ''}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    />
  )
}
