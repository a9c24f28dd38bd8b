import { type MailRead, readMail, textOfHtml } from '#server/reading/index.ts'
import type { Bar } from './bar.ts'
import { heldOutLayouts } from './held-out-layouts.ts'
import { mailLayouts } from './mail-layouts.ts'
import {
  knownSenders,
  ownPeople,
  type TrueLane,
  type WrittenMail,
  writeMails,
  writtenAt,
  writtenZone,
} from './written-mails.ts'

/** What was read of written mails, against what they say. */
export interface MailScore {
  readonly lanes: number
  readonly complete: number
  /** Values that are there and wrong. */
  readonly wrong: {
    readonly cities: number
    readonly days: number
    readonly equipment: number
    readonly customers: number
    readonly lanes: number
  }
  /** The mails with an incomplete lane or a wrong value, with what was wrong. */
  readonly faults: readonly {
    readonly mail: WrittenMail
    readonly read: MailRead
    readonly faults: readonly string[]
  }[]
}

const fields = ['origin', 'destination', 'pickup', 'delivery', 'equipment'] as const

/** The lane of the truth that a read lane may be: the one with the most fields in common. */
function agreement(read: MailRead['lanes'][number], truth: TrueLane): number {
  const ends =
    Number(read.origin?.value === truth.origin) + Number(read.destination?.value === truth.destination)
  return (
    10 * ends +
    Number(read.pickup?.value === truth.pickup) +
    Number(read.equipment?.value === truth.equipment)
  )
}

export function readWritten(mail: WrittenMail): MailRead {
  return readMail(
    {
      subject: mail.subject,
      text: mail.isHtml ? textOfHtml(mail.text) : mail.text,
      tables: mail.tables,
      from: mail.from,
      sentAt: writtenAt,
      sentOffset: -360,
    },
    { zone: writtenZone, senders: knownSenders, ownPeople },
  )
}

/** Reads the mails and counts lanes that are complete, and values that are silently wrong. */
export function scoreMails(mails: readonly WrittenMail[]): MailScore {
  const wrong = { cities: 0, days: 0, equipment: 0, customers: 0, lanes: 0 }
  let [lanes, complete] = [0, 0]
  const faults: MailScore['faults'][number][] = []
  for (const mail of mails) {
    const read = readWritten(mail)
    const found: string[] = []
    if (read.customer !== null && read.customer.value !== mail.customer) {
      wrong.customers++
      found.push(`customer ${read.customer.value}`)
    }
    const isCustomerMissed = read.customer === null && mail.customer !== null
    if (isCustomerMissed) found.push('no customer')
    const left = read.lanes.map((lane, nth) => ({ lane, nth }))
    for (const truth of mail.lanes) {
      lanes++
      left.sort((a, b) => agreement(b.lane, truth) - agreement(a.lane, truth))
      const best = left.shift()
      if (best === undefined) {
        found.push(`no lane ${truth.origin} to ${truth.destination}`)
        continue
      }
      const asked = new Set(read.questions.filter(({ lane }) => lane === best.nth).map(({ field }) => field))
      const missed = fields.filter((field) => {
        const value = best.lane[field]?.value ?? null
        const meant = truth.ask.includes(field) ? null : truth[field]
        if (value !== null && value !== meant) {
          wrong[
            field === 'equipment'
              ? 'equipment'
              : field === 'pickup' || field === 'delivery'
                ? 'days'
                : 'cities'
          ]++
          found.push(`WRONG ${field} ${value}, not ${meant}`)
        }
        return value !== meant || (truth.ask.includes(field) && !asked.has(field))
      })
      const stops = best.lane.stops.map(({ value }) => value)
      const areStops = stops.join(';') === truth.stops.join(';')
      if (!areStops && stops.some((stop) => !truth.stops.includes(stop))) {
        wrong.cities++
        found.push(`WRONG stops ${stops.join(';')}`)
      }
      if (missed.length > 0) found.push(`not read: ${missed.join(', ')}`)
      if (!areStops) found.push(`stops ${stops.join('; ')}`)
      if (missed.length === 0 && areStops && !isCustomerMissed) complete++
    }
    const phantoms = left.filter(({ lane }) => lane.origin !== null && lane.destination !== null)
    wrong.lanes += phantoms.length
    for (const { lane } of phantoms) found.push(`PHANTOM ${lane.origin?.value} to ${lane.destination?.value}`)
    if (found.length > 0) faults.push({ mail, read, faults: found })
  }
  return { lanes, complete, wrong, faults }
}

function barsOf(check: string, score: MailScore, least: number): Bar[] {
  return [
    {
      check,
      measure: 'share of lanes complete',
      value: score.complete / Math.max(1, score.lanes),
      least,
    },
    ...Object.entries(score.wrong).map(
      ([measure, value]): Bar => ({ check, measure: `silently wrong ${measure}`, value, most: 0 }),
    ),
  ]
}

/** Mails in forty layouts, and in ten that were written after the reader was finished. */
export function mailBars(seed: number, count = 500, heldOut = 60): Bar[] {
  const known = scoreMails(writeMails(mailLayouts, count, seed))
  const others = scoreMails(writeMails(heldOutLayouts, heldOut, seed))
  return [
    ...barsOf(`${count} mails in ${Object.keys(mailLayouts).length} layouts`, known, 0.9),
    ...barsOf(`${heldOut} mails in ${Object.keys(heldOutLayouts).length} held-out layouts`, others, 0.9),
  ]
}
