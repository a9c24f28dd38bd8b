import { knownEquipment } from '#engine/equipment.ts'
import type { LocalClock } from '#engine/local-clock.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import { editDistance } from '#geography/edit-distance.ts'
import { likelyEquipment } from '../csv/index.ts'

/** A longer cell is no amount that a person wrote in an e-mail. */
const amountLengthMax = 40

/** What a cell of a rate says beside its amount. */
export interface WrittenAmount {
  /** The amount in the form of a file. */
  readonly text: string
  readonly basis: RateBasis | null
  /** The fuel charge, if the cell has its amount. */
  readonly fuel: string | null
}

/** The words for what a rate includes, at the end of its cell. */
const linehaulAtEnd = /(?<!\s)\s?\b(?:linehaul|line haul|lh)$/i
const allInAtEnd = /(?<!\s)\s?\b(?:all[ -]?in|ai)$/i
const fuelAtEnd = /(?<!\s)\s?(?:\+|\bplus\b)\s?(\$?\s?[\d.,]+)?\s?(?:fsc|fs|fuel(?: surcharge)?)$/i
const thousands = /(?<![\d.,])(\d{1,3}(?:[.,]\d{1,2})?)\s?k\b/i

/**
 * Reads an amount as people write it in messages: in thousands, and with what it includes.
 *
 * @example writtenAmount('2.1k') // { text: '2100', basis: null, fuel: null }
 * @example writtenAmount('1500 + 350 fsc') // { text: '1500', basis: 'linehaul', fuel: '350' }
 */
export function writtenAmount(cell: string): WrittenAmount {
  if (cell.length > amountLengthMax) return { text: cell, basis: null, fuel: null }
  const inDigits = cell.replace(thousands, (_, number: string) =>
    String(Math.round(Number(number.replace(',', '.')) * 1000)),
  )
  const fuel = fuelAtEnd.exec(inDigits)
  if (fuel !== null)
    return { text: inDigits.slice(0, fuel.index), basis: 'linehaul', fuel: fuel[1]?.trim() ?? null }
  for (const [form, basis] of [
    [linehaulAtEnd, 'linehaul'],
    [allInAtEnd, 'all_in'],
  ] as const) {
    const words = form.exec(inDigits)
    if (words !== null && /\d/.test(inDigits))
      return { text: inDigits.slice(0, words.index), basis, fuel: null }
  }
  return { text: inDigits, basis: null, fuel: null }
}

const dayMs = 86_400_000
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const weekdayForm = /^(?:next )?(sun|mon|tue|wed|thu|fri|sat)(?:day|s|sday|nesday|rs|rsday|urday)?\.?$/i

/** The days of a paste by the clock of the brokerage. */
export class NamedDays {
  readonly #today: number
  constructor(now: number, clock: LocalClock) {
    this.#today = clock.wallTime(now)
  }

  #after(days: number): string {
    return new Date(this.#today + days * dayMs).toISOString().slice(0, 10)
  }

  /** The day that a word names; any other text as it is. @example days.of('tomorrow') // '2026-11-26' */
  of(cell: string): string {
    const after = dayWords.get(cell.toLowerCase())
    return after === undefined ? cell : this.#after(after)
  }

  /** The days that a text may mean: the next of a weekday and the one a week later, else today and tomorrow. */
  near(cell: string): string[] {
    const named = weekdayForm.exec(cell.trim())?.[1]?.toLowerCase()
    if (named === undefined) return [this.#after(0), this.#after(1)]
    const ahead = (weekdays.indexOf(named) - new Date(this.#today).getUTCDay() + 7) % 7
    return ahead === 0 ? [this.#after(0), this.#after(7)] : [this.#after(ahead), this.#after(ahead + 7)]
  }
}

const dayWords: ReadonlyMap<string, number> = new Map([
  ['today', 0],
  ['tomorrow', 1],
  ['tmrw', 1],
  ['tmw', 1],
])
export const isDayWord = (cell: string): boolean => dayWords.has(cell.toLowerCase())

/** Names that are mistyped, with their codes. Shorter names are too near to codes of a brokerage. */
const equipmentNames = ['reefer', 'flatbed', 'stepdeck', 'dry van', 'power only', 'hotshot', 'conestoga']
const equipmentLengthMax = 20

/**
 * The code of a known equipment that a text is nearly; null if it is known, or none is near. Codes of a brokerage's own are near none.
 *
 * @example nearEquipment('Reefr') // 'R'
 * @example nearEquipment('TARPED') // null
 */
export function nearEquipment(text: string): string | null {
  if (knownEquipment(text) !== null) return null
  const likely = likelyEquipment(text)
  const word = text.trim().toLowerCase()
  if (likely !== null || word.length < 4 || word.length > equipmentLengthMax) return likely
  const near = equipmentNames.find((name) => editDistance(word, name, 2) <= (name.length > 6 ? 2 : 1))
  return near === undefined ? null : knownEquipment(near)
}
