import type { Quote } from '#contract/quote.ts'
import { type Mode, unpricedBecause } from '#engine/load-mode.ts'
import { stopsText } from '#engine/load-stops.ts'
import { ChoiceFilter, type FilterField } from './choice-filter.tsx'
import { counted } from './formats.ts'

/** The names of the modes on all pages. */
export const modeNames: Readonly<Record<Mode, string>> = {
  truckload: 'Truckload',
  partial: 'Partial',
  ltl: 'LTL',
  drayage: 'Drayage',
  intermodal: 'Intermodal',
}

type Load = Pick<Quote, 'mode' | 'stops'>

/** Why a saved quote has no price; null for a direct truckload. */
export function unpricedQuote({ mode, stops, equipment }: Load & Pick<Quote, 'equipment'>): string | null {
  return unpricedBecause({ mode, stops: stopsText(stops), equipment_code: equipment })
}

/**
 * The mode and the stops in words; null for a direct truckload.
 *
 * @example loadWords({ mode: 'ltl', stops: ['Memphis, TN'] }) // 'LTL via Memphis, TN'
 */
export function loadWords({ mode, stops }: Load): string | null {
  const name = modeNames[mode ?? 'truckload']
  if (stops.length > 0) return `${name} via ${stops.join('; ')}`
  return name === modeNames.truckload ? null : name
}

const listed: Readonly<Record<Mode | 'multi_stop', string>> = { ...modeNames, multi_stop: 'With stops' }

/**
 * The mode and the number of stops; null for a direct truckload.
 *
 * @example loadMark({ mode: 'ltl', stops: ['Memphis, TN'] }) // 'LTL, 1 stop'
 */
export function loadMark({ mode, stops }: Load): string | null {
  const words = [
    ...((mode ?? 'truckload') === 'truckload' ? [] : [modeNames[mode ?? 'truckload']]),
    ...(stops.length === 0 ? [] : [counted(stops.length, 'stop')]),
  ]
  return words.join(', ') || null
}

/** The loads that an address selects by mode, as a parameter of the service; none if the address names none. */
export function requestedMode({ mode }: { readonly mode?: string | undefined }): {
  mode?: keyof typeof listed
} {
  return mode !== undefined && Object.hasOwn(listed, mode) ? { mode: mode as keyof typeof listed } : {}
}

/** Filters by mode, or by stops. */
export function ModeFilter(filter: FilterField) {
  return <ChoiceFilter {...filter} name="mode" label="Mode" all="Any mode" names={listed} />
}
