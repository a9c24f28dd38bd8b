import { hashOf } from './text-hash.ts'

/** The stamps say who wrote each field of a quote last, and when, so that late and repeated messages end in the same values. */

/** The sender and the time of a value. Times in epoch seconds. */
export interface Stamp {
  /** The service token of the signed update; null for a rollback by a person. */
  readonly sender: number | null
  /** The timestamp in the signature, from the sender's clock. */
  readonly signed: number
  /** The earlier of the signed time and the database's time when the update arrived. */
  readonly effective: number
  /** Decides between messages of the same second: the higher rank counts. Absent for rank 0 and for a rollback. */
  readonly rank?: number
  /** A hash of the message, by which a repetition is recognized. Absent for a rollback. */
  readonly hash?: number
  /** The hashes of the sender's other messages of the same second that do not count. */
  readonly before?: readonly number[]
}

/** The stamp of a field's current value, followed by the newest stamp of each other sender of the field. */
export type FieldStamps = readonly Stamp[]

/**
 * The most seconds that a signed time may lie ahead of the clock: the window of signatures. A saved time that lies further ahead was
 * accepted while the service's clock was wrong.
 */
export const signedAheadSecondsMax = 300

/** Whether a time (epoch seconds) lies further ahead of the clock (`now`, epoch milliseconds) than a signature may. */
export function isTooFarAhead(seconds: number, now: number): boolean {
  return seconds > Math.floor(now / 1000) + signedAheadSecondsMax
}

/** Whether the sender's clock was ahead of the database's clock when the update arrived. */
function isAhead({ signed, effective }: Stamp): boolean {
  return signed > effective
}

/**
 * Whether an incoming value replaces the current value of a field.
 *
 * Values from the same sender use the same clock, so the newest signed time wins, whatever the clock skew. For two
 * senders, their signed times are compared if both clocks were ahead of the database's clock. Otherwise their
 * effective times are compared, so that a fast clock blocks neither another sender nor a rollback by a person. In a
 * tie the message with the higher rank wins, and of equal ranks the one whose first arrival is later.
 *
 * @example isNewest([{ sender: 1, signed: 121, effective: 0 }], { sender: 1, signed: 120, effective: 120 }) // false
 */
function isNewest(stamps: FieldStamps, incoming: Stamp): boolean {
  const own = stamps.find(({ sender }) => sender === incoming.sender)
  if (own !== undefined && isOlder(own, incoming)) return false
  const [held] = stamps
  if (held === undefined || held === own) return true
  const [currentTime, incomingTime] =
    isAhead(held) && isAhead(incoming) ? [held.signed, incoming.signed] : [held.effective, incoming.effective]
  return compared(currentTime, incomingTime, held, incoming) <= 0
}

/**
 * Whether an incoming value that arrived at `now` replaces the current value of a field. A saved time that is too far ahead does not
 * count against a message whose own time is possible; otherwise no update would be applied until the clock reaches that time. If the
 * current value has such a time, the incoming message must be newer than the stamps of all other senders.
 */
function replaces(stamps: FieldStamps, incoming: Stamp, now: number): boolean {
  if (isTooFarAhead(incoming.signed, now)) return isNewest(stamps, incoming)
  const possible = possibleStamps(stamps, now)
  return possible[0] === stamps[0]
    ? isNewest(possible, incoming)
    : possible.every((stamp) => isNewest([stamp], incoming))
}

function possibleStamps(stamps: FieldStamps, now: number): FieldStamps {
  return stamps.some(({ signed }) => isTooFarAhead(signed, now))
    ? stamps.filter(({ signed }) => !isTooFarAhead(signed, now))
    : stamps
}

/** Negative if the incoming message is newer than the current one, or of the same second with a higher rank. */
function compared(currentTime: number, incomingTime: number, held: Stamp, incoming: Stamp): number {
  return currentTime - incomingTime || (held.rank ?? 0) - (incoming.rank ?? 0)
}

/** Whether the incoming message was replaced before by another one of its second, so that it is a repetition. */
function isReplacedBy(own: Stamp, { signed, hash }: Pick<Stamp, 'signed' | 'hash'>): boolean {
  return own.signed === signed && hash !== undefined && own.before?.includes(hash) === true
}

/** Whether the sender's own stamp is newer than the incoming message. */
function isOlder(own: Stamp, incoming: Stamp): boolean {
  return compared(own.signed, incoming.signed, own, incoming) > 0 || isReplacedBy(own, incoming)
}

/** The most messages of one second that are remembered. */
const maxBefore = 16

/** The stamp of the message that counts, with the hashes of `other` messages of its second. */
function withOthers(counting: Stamp, other: Stamp | undefined): Stamp {
  if (counting.signed !== other?.signed) return counting
  const before = new Set([...(counting.before ?? []), ...(other.before ?? []), other.hash])
  before.delete(counting.hash)
  const hashes = [...before].filter((hash) => hash !== undefined)
  return hashes.length === 0 ? counting : { ...counting, before: hashes.slice(-maxBefore) }
}

/** The stamps of a field after a value arrived. `applied` is whether the value became the field's current value. */
function stampsAfter(stamps: FieldStamps, incoming: Stamp, applied: boolean): FieldStamps {
  const others = stamps.filter(({ sender }) => sender !== incoming.sender)
  const own = stamps.find(({ sender }) => sender === incoming.sender)
  const stamp = withOthers(incoming, own)
  // A rollback has no sender, so its stamp is dropped when a newer value replaces the restored one.
  if (applied) return [stamp, ...others.filter(({ sender }) => sender !== null)]
  if (own === undefined || !(isOlder(own, incoming) || sameStamp(own, stamp))) return [...others, stamp]
  const kept = withOthers(own, incoming)
  return sameStamp(kept, own) ? stamps : stamps.map((held) => (held === own ? kept : held))
}

/**
 * The sender's messages of the second of a message, as far as the stamps of fields know them: the highest of their ranks, its time, and
 * the rank of the same message; null if it is new, 0 if another one replaced it.
 */
export function messagesOfSecond(
  fields: readonly FieldStamps[],
  message: Pick<Stamp, 'sender' | 'signed' | 'hash'>,
): { readonly top: Stamp | null; readonly repeated: number | null } {
  const stamps = fields
    .flat()
    .filter(({ sender, signed }) => sender === message.sender && signed === message.signed)
  const top = stamps.reduce<Stamp | null>(
    (high, stamp) => ((stamp.rank ?? 0) > (high?.rank ?? -1) ? stamp : high),
    null,
  )
  const same = stamps.find(({ hash }) => hash === message.hash)
  const isReplaced = stamps.some((stamp) => isReplacedBy(stamp, message))
  return { top, repeated: same !== undefined ? (same.rank ?? 0) : isReplaced ? 0 : null }
}

/**
 * The stamps of a field after a rollback at `atSeconds` of the database's clock. The rollback is newer than every update that
 * arrived before it. A sender's clock is assumed to stay as far ahead as it was: updates that the sender signed before the rollback
 * have an earlier time than the recorded one, and updates signed afterwards have a later time.
 *
 * @example stampsAfterRollback([{ sender: 1, signed: 120, effective: 0 }], 10)
 *   // [{ sender: null, signed: 10, effective: 10 }, { sender: 1, signed: 130, effective: 10 }]
 */
export function stampsAfterRollback(stamps: FieldStamps, atSeconds: number): FieldStamps {
  return [
    { sender: null, signed: atSeconds, effective: atSeconds },
    ...stamps
      .filter(({ sender }) => sender !== null)
      .map(({ sender, signed, effective }) => ({
        sender,
        signed: Math.max(signed, atSeconds + signed - effective),
        effective: Math.max(effective, atSeconds),
      })),
  ]
}

/** The fields that a message writes, and the stamps of all fields afterwards. */
export interface StampedFields<Field extends string> {
  readonly written: ReadonlySet<Field>
  readonly stamps: Readonly<Partial<Record<Field, FieldStamps>>>
  /** Whether any stamp differs from before. */
  readonly changed: boolean
}

/** A message that a sender signed, in whole seconds of the sender's clock. */
export interface SignedMessage {
  readonly sender: number
  readonly signedAtSeconds: number
  /** Of two messages of one second, the one with the higher rank counts. */
  readonly rank?: number
  /** The message's content as one text, by which a repetition is recognized. */
  readonly content: string
}

/**
 * The stamp of a message that arrived at `now` (epoch milliseconds) of the database's clock.
 *
 * @example stampOf({ sender: 3, signedAtSeconds: 130, content: '{}' }, 120_500)
 *   // { sender: 3, signed: 130, effective: 120, hash: 1415952421 }
 */
export function stampOf({ sender, signedAtSeconds, rank = 0, content }: SignedMessage, now: number): Stamp {
  const effective = Math.min(signedAtSeconds, Math.floor(now / 1000))
  const stamp = { sender, signed: signedAtSeconds, effective, hash: hashOf(content) }
  return rank === 0 ? stamp : { ...stamp, rank }
}

/**
 * Decides which of the `carried` fields a message that arrived at `now` (epoch milliseconds of the database's clock) writes: the value
 * with the newest stamp is applied (see `replaces`). With `staleWrites` `apply`, every sent value is applied.
 *
 * @example stampFields({}, ['rate'], stampOf({ sender: 3, signedAtSeconds: 120, content: '{}' }, 120_000), 120_000).written
 *   // Set { 'rate' }
 */
export function stampFields<Field extends string>(
  held: Readonly<Partial<Record<Field, FieldStamps>>>,
  carried: readonly Field[],
  stamp: Stamp,
  now: number,
  staleWrites: 'reject' | 'apply' = 'reject',
): StampedFields<Field> {
  const written = new Set(
    carried.filter((field) => staleWrites === 'apply' || replaces(held[field] ?? [], stamp, now)),
  )
  const stamps: Partial<Record<Field, FieldStamps>> = { ...held }
  for (const field of carried) {
    const before = held[field] ?? []
    const isReplaced = written.has(field) && !isTooFarAhead(stamp.signed, now)
    stamps[field] = stampsAfter(isReplaced ? possibleStamps(before, now) : before, stamp, written.has(field))
  }
  return { written, stamps, changed: carried.some((field) => !sameStamps(stamps[field], held[field])) }
}

function sameStamps(one: FieldStamps = [], other: FieldStamps = []): boolean {
  return one.length === other.length && one.every((stamp, index) => sameStamp(stamp, other[index]))
}

function sameStamp(one: Stamp, other: Stamp | undefined): boolean {
  return (
    one.sender === other?.sender &&
    one.signed === other.signed &&
    one.effective === other.effective &&
    one.rank === other.rank &&
    one.hash === other.hash &&
    one.before?.length === other.before?.length
  )
}
