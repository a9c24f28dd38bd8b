import type { Static } from 'typebox'
import { lanesPerRequestMax } from '#contract/limits.ts'
import type { MailReading } from '#contract/mail-readings.ts'
import { dollarsIfKnown } from '#engine/money.ts'
import type { MailRead, Words } from '../../reading/index.ts'

type Answer = Static<typeof MailReading>

/**
 * The answer, with the words as they were sent: the reader replaces some characters by others of the same length.
 *
 * @param hasSender whether the sender is known: otherwise nothing is asked about the customer
 */
export function readingAnswer(
  { lanes, deadline, customer, questions }: MailRead,
  sent: { readonly subject: string; readonly text: string; readonly tables: readonly string[] },
  hasSender: boolean,
): Answer {
  const exact = ({ part, at, text }: Words) => {
    const table = typeof part === 'number' ? part : null
    const from = typeof part === 'number' ? (sent.tables[part] ?? '') : sent[part]
    const where = typeof part === 'number' ? 'table' : part
    return { part: where, table, at, text: from.slice(at, at + text.length) } as const
  }
  const said = <T>(found: { readonly value: T; readonly words: Words } | null) =>
    found === null ? null : { value: found.value, words: exact(found.words) }
  return {
    lanes: lanes.slice(0, lanesPerRequestMax).map((lane) => {
      const target = dollarsIfKnown(lane.target?.value ?? null)
      return {
        origin: said(lane.origin),
        destination: said(lane.destination),
        stops: lane.stops.map(({ value, words }) => ({ value, words: exact(words) })),
        pickup: said(lane.pickup),
        delivery: said(lane.delivery),
        equipment: said(lane.equipment),
        mode: said(lane.mode),
        weight: said(lane.weight),
        temperature: said(lane.temperature),
        commodity: said(lane.commodity),
        hazmat: said(lane.hazmat),
        target:
          lane.target === null || target === null ? null : { value: target, words: exact(lane.target.words) },
      }
    }),
    lanes_left: Math.max(0, lanes.length - lanesPerRequestMax),
    deadline: said(deadline),
    customer: customer?.value ?? null,
    questions: questions
      .filter(({ lane, field }) => (lane ?? 0) < lanesPerRequestMax && (hasSender || field !== 'customer'))
      .map(({ lane, field, detail, words, options }) => ({
        lane,
        field,
        detail,
        words: words === null ? null : exact(words),
        options: [...options],
      })),
  }
}
