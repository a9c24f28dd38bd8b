/** A part of a mail: its subject, its text, or one of its tables by number, from 0. */
export type MailPart = 'subject' | 'text' | number

/** The exact words that a value was read from. `at` is the offset in the part, in UTF-16 units. */
export interface Words {
  readonly part: MailPart
  readonly at: number
  readonly text: string
}

/** A value with its words. */
export interface Found<T = string> {
  readonly value: T
  readonly words: Words
}

/** What a person has to decide. The reader never decides it. */
export interface Question {
  /** The lane that it is about, from 0; null if it is about the whole mail. */
  readonly lane: number | null
  readonly field: LaneField | 'customer' | 'deadline' | 'lanes'
  /** One sentence: what is not certain. */
  readonly detail: string
  /** The words that it is about; null if something is missing. */
  readonly words: Words | null
  /** The possible values, most likely first; empty if there are none to offer. */
  readonly options: readonly string[]
}

export const laneFields = [
  'origin',
  'destination',
  'stops',
  'pickup',
  'delivery',
  'equipment',
  'mode',
  'weight',
  'temperature',
  'commodity',
  'hazmat',
  'target',
] as const
export type LaneField = (typeof laneFields)[number]

/** A lane of a mail. A field is null when the mail does not say it, or when it is a question. */
export interface ReadLane {
  readonly origin: Found | null
  readonly destination: Found | null
  readonly stops: readonly Found[]
  /** Days: 2026-12-03. */
  readonly pickup: Found | null
  readonly delivery: Found | null
  /** A code: V, R, F. */
  readonly equipment: Found | null
  readonly mode: Found | null
  /** Pounds. */
  readonly weight: Found<number> | null
  /** As in `34 F`, `34 to 36 F`. */
  readonly temperature: Found | null
  readonly commodity: Found | null
  readonly hazmat: Found<boolean> | null
  /** Whole cents. */
  readonly target: Found<number> | null
}
