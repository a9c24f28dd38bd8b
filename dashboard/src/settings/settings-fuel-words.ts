import { formatMills } from '#engine/fuel-surcharge.ts'
import type { Answer, Body } from '../api/index.ts'

export type FuelSchedule = Answer<'get-fuel'>['schedules'][number]
export type FuelPeriod = FuelSchedule['periods'][number]
type SentPeriod = Body<'change-fuel-schedule'>['periods'][number]

/** Dollars with three decimals, as diesel is priced. @example milled(3.879) // '$3.879' */
export const milled = (dollars: number) => formatMills(Math.round(dollars * 1000))

/** A period as its form has it: all values are texts. Steps have a line each, with the diesel price and the surcharge. */
export interface PeriodDraft {
  readonly key: string
  readonly from: string
  readonly until: string
  readonly kind: 'miles_per_gallon' | 'steps'
  readonly base: string
  readonly milesPerGallon: string
  readonly steps: string
}

export const emptyPeriod = (): PeriodDraft => ({
  key: crypto.randomUUID(),
  from: '',
  until: '',
  kind: 'miles_per_gallon',
  base: '',
  milesPerGallon: '',
  steps: '',
})

const textOf = (value: number | null) => (value === null ? '' : String(value))

/** The form's values of a saved period. */
export function draftOf(period: FuelPeriod): PeriodDraft {
  return {
    key: crypto.randomUUID(),
    from: period.from,
    until: period.until ?? '',
    kind: period.steps === null ? 'miles_per_gallon' : 'steps',
    base: textOf(period.base_price),
    milesPerGallon: textOf(period.miles_per_gallon),
    steps: (period.steps ?? []).map((step) => `${step.diesel_price} ${step.per_mile}`).join('\n'),
  }
}

/** A number, with or without a dollar sign. Other text is sent as it is, so that the service names the field. */
function numberOf(text: string): number | string | undefined {
  const plain = text.trim()
  if (plain === '') return undefined
  return /^\$?\s*(?:\d+(?:\.\d+)?|\.\d+)$/.test(plain) ? Number(plain.replace(/^\$\s*/, '')) : plain
}

/**
 * A period as it is sent. Each step has a line: the diesel price, then the surcharge per mile, separated by spaces, a tab, or a
 * semicolon, so that two columns of a spreadsheet can be pasted.
 *
 * @example sentPeriod({ ...emptyPeriod(), from: '2026-01-01', base: '$1.20', milesPerGallon: '6' })
 *   // { from: '2026-01-01', base_price: 1.2, miles_per_gallon: 6 }
 */
export function sentPeriod({ from, until, kind, base, milesPerGallon, steps }: PeriodDraft): SentPeriod {
  const rule =
    kind === 'miles_per_gallon'
      ? { base_price: numberOf(base), miles_per_gallon: numberOf(milesPerGallon) }
      : {
          steps: stepLines(steps).map((line) => {
            const [price = '', ...surcharge] = line.split(/[\s;]+/)
            return { diesel_price: numberOf(price), per_mile: numberOf(surcharge.join(' ')) }
          }),
        }
  const sent = { from, ...(until === '' ? {} : { until }), ...rule }
  // The service checks each value, and its answer names the field.
  return sent as unknown as SentPeriod
}

/** The lines that have a step. */
const stepLines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** The surcharge of a period in words. @example '(diesel − $1.200) / 6 mpg' */
export function ruleInWords({ base_price: base, miles_per_gallon: milesPerGallon, steps }: FuelPeriod) {
  if (base !== null) return `(diesel − ${milled(base)}) / ${milesPerGallon} mpg`
  return (steps ?? []).map((step) => `${milled(step.per_mile)} from ${milled(step.diesel_price)}`).join(', ')
}
