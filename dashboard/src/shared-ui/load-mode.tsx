import { NativeSelect } from '@mantine/core'
import type { Lane } from '#contract/lane.ts'
import { type Mode, modes } from '#engine/load-mode.ts'
import { type AddressFilter, AddressSelect } from './address-select.tsx'

export const modeNames: Readonly<Record<Mode, string>> = {
  truckload: 'Truckload',
  partial: 'Partial',
  ltl: 'LTL',
  drayage: 'Drayage',
  intermodal: 'Intermodal',
}

/** Whether a stored quote is a truckload without stops, and so in the statistics of its lane. */
export function isDirectQuote({ mode, stops }: Pick<Lane, 'mode' | 'stops'>): boolean {
  return (mode ?? 'truckload') === 'truckload' && stops.length === 0
}

/**
 * The mode and the number of stops in few words; null for a direct truckload.
 *
 * @example loadWords({ mode: 'ltl', stops: ['Memphis, TN'] }) // 'LTL, 1 stop'
 */
export function loadWords({ mode, stops }: Pick<Lane, 'mode' | 'stops'>): string | null {
  const words = [
    ...((mode ?? 'truckload') === 'truckload' ? [] : [modeNames[mode ?? 'truckload']]),
    ...(stops.length === 0 ? [] : [stops.length === 1 ? '1 stop' : `${stops.length} stops`]),
  ]
  return words.length === 0 ? null : words.join(', ')
}

type ListedMode = Mode | 'multi_stop'

const listedModeNames: Readonly<Record<ListedMode, string>> = { ...modeNames, multi_stop: 'With stops' }

/** The loads that an address selects by mode, as a parameter of the service; none if the address names none. */
export function modeAsked({ mode }: { readonly mode?: string | undefined }): { mode?: ListedMode } {
  return mode !== undefined && Object.hasOwn(listedModeNames, mode) ? { mode: mode as ListedMode } : {}
}

/** Filters by mode, or by stops. */
export function ModeFilter({ search, ...filter }: AddressFilter) {
  const { mode } = modeAsked(search)
  return (
    <AddressSelect
      {...filter}
      param="mode"
      label="Mode"
      all="Any mode"
      names={listedModeNames}
      value={mode}
    />
  )
}

/** The mode of a load; an empty value is a truckload. */
export function ModeChoice({
  value,
  error,
  onChange,
  ...field
}: {
  value: string
  error?: string | undefined
  onChange: (mode: string) => void
  'data-field'?: string
}) {
  return (
    <NativeSelect
      {...field}
      label="Mode"
      data={modes.map((mode) => ({ value: mode === 'truckload' ? '' : mode, label: modeNames[mode] }))}
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
