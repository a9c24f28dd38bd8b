const dayMs = 86_400_000
const quarterMs = 900_000

/**
 * The clock of a time zone: the local time of a moment, and the moment of a local time. A local time is written as epoch milliseconds, as
 * if it were UTC.
 */
export class LocalClock {
  readonly #form: Intl.DateTimeFormat
  /** The offset from UTC on each day that was asked for; null for a day near which it changes. */
  readonly #offsets = new Map<number, number | null>()
  /** The offsets at moments near a change, which are asked for again and again. */
  readonly #offsetsNear = new Map<number, number>()

  /** @param timeZone an IANA name */
  constructor(timeZone: string) {
    this.#form = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  }

  /** The local time of a moment. @example new LocalClock('America/Chicago').wallTime(0) // -21_600_000 */
  wallTime(at: number): number {
    const part = Object.fromEntries(
      this.#form.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    )
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
    const ofSecond = Date.UTC(year, month - 1, day, hour, minute, second)
    return ofSecond + (((at % 1000) + 1000) % 1000)
  }

  /**
   * The moment of a local time. A time that the clock repeats is its first one. A time that it skips is as much later as the clock is
   * moved forward, as in RFC 5545, section 3.3.5.
   *
   * @example new LocalClock('America/Chicago').momentOf(Date.UTC(2026, 2, 1)) // Date.UTC(2026, 2, 1, 6)
   */
  momentOf(wall: number): number {
    const offset = this.#offsetOnDay(Math.floor(wall / dayMs))
    if (offset !== null) return wall - offset
    // One of the two offsets applies, unless the clock changes twice within two days.
    const moments = [wall - this.#offsetNear(wall - dayMs), wall - this.#offsetNear(wall + dayMs)]
    return Math.min(...moments.filter((at) => at + this.#offsetNear(at) >= wall))
  }

  #offsetOnDay(day: number): number | null {
    const known = this.#offsets.get(day)
    if (known !== undefined) return known
    const before = this.#offsetAt((day - 1) * dayMs)
    const offset = before === this.#offsetAt((day + 2) * dayMs) ? before : null
    this.#offsets.set(day, offset)
    return offset
  }

  /** As `#offsetAt`: clocks change at full quarters of an hour. */
  #offsetNear(at: number): number {
    const quarter = Math.floor(at / quarterMs)
    const known = this.#offsetsNear.get(quarter)
    if (known !== undefined) return known
    const offset = this.#offsetAt(quarter * quarterMs)
    this.#offsetsNear.set(quarter, offset)
    return offset
  }

  #offsetAt(at: number): number {
    return this.wallTime(at) - at
  }
}
