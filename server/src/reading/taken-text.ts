interface Span {
  readonly at: number
  readonly end: number
}

/** The characters of a text that belong to something that was read. */
export class TakenText {
  readonly #marks: Uint8Array
  constructor(text: string, spans: readonly Span[] = []) {
    this.#marks = new Uint8Array(text.length)
    for (const one of spans) this.#marks.fill(1, one.at, one.end)
  }

  /** Whether one of the characters is taken. */
  has({ at, end }: Span): boolean {
    return this.#marks.subarray(at, end).includes(1)
  }

  /** Takes characters. False, and takes none, if one of them is taken. */
  take(span: Span): boolean {
    if (this.has(span)) return false
    this.#marks.fill(1, span.at, span.end)
    return true
  }
}
