import { formatDollars } from '#engine/money.ts'
import { howMany, type ImportNote } from './import-notes.ts'
import type { ImportedQuote } from './rows.ts'

/** Fuel alone costs twice as much, so no carrier hauls a truckload so far for less than this. */
const centsPerMileMin = 25
const milesMin = 250
const shownMax = 3

/** Counts truckloads with rates that no load has: the file may be cut within its last row, or a row may be a charge. */
export class LowRates {
  #count = 0
  readonly #examples: string[] = []

  add(line: number, { mode, miles, quoted_rate_cents: cents }: ImportedQuote['columns']): void {
    if (mode != null || miles == null || miles < milesMin || cents >= centsPerMileMin * miles) return
    this.#count++
    if (this.#examples.length < shownMax) {
      this.#examples.push(`${formatDollars(cents)} for ${Math.round(miles)} miles (line ${line})`)
    }
  }

  /** A sentence about the rates. @param column the column of the rates */
  notes(column: string): ImportNote[] {
    if (this.#count === 0) return []
    const more = this.#count > this.#examples.length ? ', …' : ''
    const detail = `${howMany(this.#count, 'rate')} ${this.#count === 1 ? 'is' : 'are'} too low for a truckload: ${this.#examples.join(', ')}${more}. Is the file cut, or are the amounts charges or rates per mile?`
    return [{ code: 'content', column, detail, choices: [] }]
  }
}
