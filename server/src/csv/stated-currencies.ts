import type { Currency } from '#engine/rate-basis.ts'

interface Statement<Known extends string> {
  readonly currency: Known
  /** What states it, worded to precede "says". */
  readonly by: string
  /** What a person can do if the statement is wrong, worded to follow the contradiction. */
  readonly remedy: string
}

/**
 * What states the currency of an amount, or of the amounts of a row: a cell, the name of a column, a column of currencies, or a line above
 * the header. The first statement counts, and another one may not contradict it.
 *
 * @example
 * const stated = new StatedCurrencies()
 * stated.say('CAD', 'its cell')
 * stated.say('USD', 'the column Currency')
 * stated.currency // 'CAD'
 * stated.contradiction?.detail // 'in one currency: its cell says CAD, and the column Currency says USD'
 */
export class StatedCurrencies<Known extends string = Currency> {
  #first: Statement<Known> | null = null
  #other: Statement<Known> | null = null

  say(currency: Known | null, by: string, remedy = ''): void {
    if (currency === null) return
    if (this.#first === null) this.#first = { currency, by, remedy }
    else if (currency !== this.#first.currency) this.#other ??= { currency, by, remedy }
  }

  /** Null if nothing states one. */
  get currency(): Known | null {
    return this.#first?.currency ?? null
  }

  /** Two statements that differ, worded to follow "must be", and what made the second one; null without such. */
  get contradiction(): { readonly detail: string; readonly by: string } | null {
    const [first, other] = [this.#first, this.#other]
    if (first === null || other === null) return null
    const detail = `in one currency: ${first.by} says ${first.currency}, and ${other.by} says ${other.currency}${other.remedy}`
    return { detail, by: other.by }
  }
}
