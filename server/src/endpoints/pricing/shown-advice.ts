import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { FieldError } from '#contract/errors.ts'
import { adviceMinutes } from '#contract/limits.ts'
import type { Appraisal, AppraisedRate } from '#engine/appraisal/appraisal.ts'
import type { ShownAppraisal } from '#engine/appraisal/shown-appraisal.ts'
import { customerKey } from '#engine/customer-name.ts'
import type { Mode } from '#engine/load-mode.ts'
import { formatDollars } from '#engine/money.ts'
import type { Pricing } from '../../book/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { type SecretKeys, seal, unsealWithAny } from '../../security/index.ts'

/*
 * The advice on a quote carries what it was computed from, sealed, and a save that returns it is judged by the same. So a person is
 * refused by no number that the page did not show, whatever was written meanwhile and whichever instance answers.
 */

/** Who asks, and for which customer. */
interface AdvisedBy {
  readonly tenant: TenantId
  readonly userId: number
  readonly customerName: string | null | undefined
  /** See `loadText`. */
  readonly load: string | null
  readonly now: number
}

/** The facts of a quote that its advice is about. Its amounts can change after the advice: the limits follow from them. */
interface AdvisedOn {
  readonly origin: string
  readonly destination: string
  readonly equipment: string | null
  readonly rate_type: string
  readonly miles: number | null
  readonly customer: string | null
  readonly person: number
  /** Absent for a direct truckload. */
  readonly load?: string
}

interface Advised {
  readonly on: AdvisedOn
  /** A digest of the rules and settings that it was computed by. */
  readonly settings: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly shown: ShownAppraisal
}

/** The name under which advice is sealed. Another brokerage's cannot be opened. */
const placeOf = (tenant: TenantId) => `advice ${tenant}`

function advisedOn({ facts, ownMiles }: Appraisal, { userId, customerName, load }: AdvisedBy): AdvisedOn {
  return {
    origin: facts.origin.place,
    destination: facts.destination.place,
    equipment: facts.equipmentCode,
    rate_type: facts.rateType,
    miles: ownMiles,
    customer: customerName == null ? null : customerKey(customerName),
    person: userId,
    ...(load === null ? {} : { load }),
  }
}

/** The mode and the stops of a load as one text; null for a direct truckload. @example loadText({ mode: 'ltl' }) // 'ltl' */
export function loadText({
  mode,
  stops,
}: {
  readonly mode?: Mode | null
  readonly stops?: string | null
}): string | null {
  const own = [mode === 'truckload' ? null : mode, stops].filter((one) => one != null)
  return own.length === 0 ? null : own.join('; ')
}

function digestOf({ rules, basis, rateType }: Pricing['settings']): string {
  return createHash('sha256')
    .update(JSON.stringify([rules, basis, rateType]))
    .digest('base64url')
}

/**
 * The `advice` of an appraised quote, for the save.
 *
 * @param rateCents the comparable rate that the advice is for
 */
export function sealAdvice(
  appraisal: Appraisal,
  rateCents: number | null,
  by: AdvisedBy & Pick<Pricing, 'settings'>,
  [key]: SecretKeys,
): string {
  const advised: Advised = {
    on: advisedOn(appraisal, by),
    settings: digestOf(by.settings),
    at: by.now,
    shown: appraisal.shownAt(rateCents),
  }
  const packed = deflateRawSync(JSON.stringify(advised)).toString('base64')
  return seal(key, placeOf(by.tenant), packed).toString('base64url')
}

/** Why a save may not use its advice: it is none, or of another quote; or it is no longer the advice. */
export type AdviceRefused = { readonly isStale: boolean; readonly error: FieldError }

function openAdvice(text: string, tenant: TenantId, keys: SecretKeys): Advised | null {
  const packed = unsealWithAny(keys, placeOf(tenant), Buffer.from(text, 'base64url'))
  if (packed === null) return null
  return JSON.parse(inflateRawSync(Buffer.from(packed, 'base64')).toString()) as Advised
}

const wordsOf: Readonly<Record<keyof AdvisedOn, string>> = {
  origin: 'origin',
  destination: 'destination',
  equipment: 'equipment',
  rate_type: 'rate type',
  miles: 'distance',
  customer: 'customer',
  person: 'person',
  load: 'mode or other stops',
}

const names = Object.keys(wordsOf) as (keyof AdvisedOn)[]

/** The advice in words as it is now. @example 'a minimum of $1,578.66, an expected cost of $1,389.22, a going rate of $1,975.72' */
function nowInWords({ rules, expected, goingCents }: Appraisal, { chance }: AppraisedRate): string {
  const amount = (what: string, cents: number | null | undefined) =>
    cents == null ? [] : [`${what} of ${formatDollars(Math.round(cents))}`]
  const parts = [
    ...amount('a minimum', rules.minimum?.rateCents),
    ...amount('a maximum', rules.maximum?.rateCents),
    ...amount('an expected cost', expected?.costCents),
    ...amount('a going rate', goingCents),
    ...(chance === null ? [] : [`a chance of ${Math.round(100 * chance.probability)} % at the rate`]),
  ]
  return parts.length === 0 ? 'without an estimate' : parts.join(', ')
}

/**
 * What a save that returns `text` as its advice is judged by. Refuses advice that this brokerage did not get, or for another quote, or
 * that is older than ten minutes or from before a change of the rules.
 *
 * @param current the appraisal of the quote by current quotes, and its rate
 */
export function shownAdvice(
  text: string,
  { appraisal, offer }: { readonly appraisal: Appraisal; readonly offer: AppraisedRate },
  by: AdvisedBy & Pick<Pricing, 'settings'> & { readonly pointer: string },
  keys: SecretKeys,
): { readonly shown: ShownAppraisal } | AdviceRefused {
  const { pointer, now } = by
  const wrong = (detail: string) => ({ isStale: false, error: { pointer, code: 'invalid', detail } })
  const advised = openAdvice(text, by.tenant, keys)
  if (advised === null) {
    return wrong(
      'advice must be that of POST /api/advice/lanes or GET /api/advice/markup for this brokerage, unchanged. Leave it out to check the rate by current numbers.',
    )
  }
  const on = advisedOn(appraisal, by)
  const others = names.filter((name) => advised.on[name] !== on[name]).map((name) => wordsOf[name])
  if (others.length > 0) {
    return wrong(
      `advice is for another ${others.join(' and another ')}. Send the advice on this quote, or leave it out to check the rate by current numbers.`,
    )
  }
  const isOld = now - advised.at > adviceMinutes * 60_000
  if (!isOld && advised.settings === digestOf(by.settings)) return { shown: advised.shown }
  const why = isOld
    ? `The advice is older than ${adviceMinutes} minutes`
    : 'The pricing rules or the default terms changed since the advice'
  const detail = `${why}: it is now ${nowInWords(appraisal, offer)}. Nothing was saved. Ask for advice again, or leave advice out.`
  return { isStale: true, error: { pointer, code: 'changed', detail } }
}
