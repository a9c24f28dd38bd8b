import type { Answer } from '../api/index.ts'
import { count, counted, dollars, probability } from './formats.ts'

/** A point of the win curve: a rate, its win probability with two ranges, and the lane's quotes near that rate. */
export type CurvePoint = NonNullable<Answer<'quote-advice'>['curve']>[number]

/** The curve's values at one rate. */
export interface CurveReading {
  readonly rate: number
  readonly probability: number
  readonly interval80: { readonly low: number; readonly high: number }
  /** Set when the rate is outside of the curve. The values are then from the nearest end. */
  readonly beyond: 'below' | 'above' | null
}

/**
 * Reads a curve at a rate by linear interpolation. Points are sorted by rate, lowest first. Null without points.
 *
 * @example readCurve(points, 2150)?.probability // 0.63
 */
export function readCurve(
  points: readonly Pick<CurvePoint, 'rate' | 'probability' | 'interval_80'>[],
  rate: number,
): CurveReading | null {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return null
  const beyond = rate < first.rate ? 'below' : rate > last.rate ? 'above' : null
  const at = Math.min(Math.max(rate, first.rate), last.rate)
  const next = points.findIndex((point) => point.rate >= at)
  const right = points[Math.max(next, 0)] ?? last
  const left = points[Math.max(next - 1, 0)] ?? first
  const share = right.rate === left.rate ? 0 : (at - left.rate) / (right.rate - left.rate)
  const between = (low: number, high: number) => low + (high - low) * share
  return {
    rate,
    probability: between(left.probability, right.probability),
    interval80: {
      low: between(left.interval_80.low, right.interval_80.low),
      high: between(left.interval_80.high, right.interval_80.high),
    },
    beyond,
  }
}

/** A probability range in words. 0% and 100% are never shown as limits. @example range({ low: 0.51, high: 0.74 }) // '51–74%' */
export function range({ low, high }: { readonly low: number; readonly high: number }): string {
  const [least, most] = [Math.round(low * 100), Math.round(high * 100)]
  if (least > 0 && most >= 100) return `${least}% or more`
  if (least <= 0 && most < 100) return `${most}% or less`
  return `${least}–${most}%`
}

/** The decided quotes of a lane: all of them, and the ones that the estimate uses. */
export interface QuotesBehind {
  readonly won: number
  readonly decided: number
  readonly used?: { readonly won: number; readonly decided: number } | undefined
}

/**
 * The quotes that a probability was estimated from, always shown with it. Quotes that are too old to count are not named as
 * its basis.
 *
 * @example basedOn({ won: 17, decided: 26 }) // '17 of 26 decided quotes won on this lane'
 * @example basedOn({ won: 876, decided: 876, used: { won: 0, decided: 0 } })
 *   // 'from your other lanes; the 876 decided quotes on this lane are too old to count'
 */
export function basedOn({ won, decided, used = { won, decided } }: QuotesBehind): string {
  if (decided === 0) return 'no decided quotes on this lane, estimated from your other lanes'
  if (used.decided > 0) {
    const older = decided - used.decided
    return `${used.won} of ${counted(used.decided, 'decided quote')} won on this lane${
      older > 0 ? ` (${count(older)} older or left out)` : ''
    }`
  }
  return decided === 1
    ? 'from your other lanes; the only decided quote on this lane is too old to count'
    : `from your other lanes; the ${counted(decided, 'decided quote')} on this lane are too old to count`
}

/** A reading as a sentence, for display and for screen readers. */
export function readingInWords(reading: CurveReading, counts: QuotesBehind): string {
  if (reading.beyond !== null) {
    return `${dollars(reading.rate)} is ${reading.beyond} the rates of the curve; at its ${
      reading.beyond === 'below' ? 'lowest' : 'highest'
    } rate ${probability(reading.probability)}, ${basedOn(counts)}`
  }
  return `At ${dollars(reading.rate)}: ${probability(reading.probability)}, 80% range ${range(reading.interval80)}, ${basedOn(counts)}`
}
