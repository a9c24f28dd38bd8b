import { NativeSelect } from '@mantine/core'
import type { AddressParams } from './address.ts'

export interface AddressFilter {
  readonly search: AddressParams
  readonly change: (params: AddressParams) => void
  readonly size?: 'xs' | 'sm'
}

/** A filter that is a parameter of the page's address. An empty value selects all. */
export function AddressSelect({
  param,
  label,
  all,
  names,
  value,
  change,
  size = 'sm',
}: Pick<AddressFilter, 'change' | 'size'> & {
  param: string
  label: string
  /** The words for all values. */
  all: string
  names: Readonly<Record<string, string>>
  value: string | undefined
}) {
  return (
    <NativeSelect
      size={size}
      label={label}
      data={[
        { value: '', label: all },
        ...Object.entries(names).map(([one, name]) => ({ value: one, label: name })),
      ]}
      value={value ?? ''}
      onChange={(event) => change({ [param]: event.currentTarget.value })}
    />
  )
}
