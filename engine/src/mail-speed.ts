import { median } from './statistics/median.ts'
import { differenceInterval, type Share, type ShareInterval } from './statistics/wilson.ts'

/** A received mail from which quotes were made. Times are epoch milliseconds. */
export interface QuotedMail {
  readonly receivedAt: number
  readonly quotedAt: number
  /** Null: it was not answered from here. */
  readonly answeredAt: number | null
  /** Whether the draft was sent as it was; null without an answer. */
  readonly isUnchanged: boolean | null
  /** Whether one of its quotes was won, or all were lost; null while that is open. */
  readonly isWon: boolean | null
}

/** How fast mails were quoted and answered. */
export interface MailSpeed {
  readonly quoted: number
  /** Minutes from the mail to its first quote. */
  readonly medianMinutes: number | null
  /** Nine of ten quotes came within so many minutes. */
  readonly ninthTenthMinutes: number | null
  readonly answered: number
  /** Answers whose text was the draft. */
  readonly unchanged: number
}

const minuteMs = 60_000

const minutesOf = ({ receivedAt, quotedAt, answeredAt }: QuotedMail) =>
  Math.max(0, Math.min(quotedAt, answeredAt ?? quotedAt) - receivedAt) / minuteMs

/**
 * The figures of some mails.
 *
 * @example mailSpeed(mails).medianMinutes // 14
 */
export function mailSpeed(mails: readonly QuotedMail[]): MailSpeed {
  const minutes = mails.map(minutesOf).sort((one, other) => one - other)
  const answers = mails.filter(({ answeredAt }) => answeredAt !== null)
  return {
    quoted: mails.length,
    medianMinutes: median(minutes),
    ninthTenthMinutes: minutes[Math.ceil(0.9 * minutes.length) - 1] ?? null,
    answered: answers.length,
    unchanged: answers.filter(({ isUnchanged }) => isUnchanged === true).length,
  }
}

/** Whether mails that were quoted fast won more than slower ones. */
export interface SpeedEffect {
  /** Fast: within so many minutes, the median of the decided mails. */
  readonly withinMinutes: number
  readonly fast: Share
  readonly slow: Share
  /** The win rate of the fast ones minus that of the slow ones, with its 95 % interval. */
  readonly difference: number
  readonly interval: ShareInterval
}

/** With fewer decided mails on a side, nothing is said. */
export const speedSideMin = 20
const DEVIATIONS_95 = 1.96

/**
 * Compares the win rates of the faster and the slower half. Null with fewer than `speedSideMin` decided mails on a side. It says nothing
 * about the cause: easy quotes may be both fast and won.
 */
export function speedEffect(mails: readonly QuotedMail[]): SpeedEffect | null {
  const decided = mails.filter(({ isWon }) => isWon !== null)
  const withinMinutes = median(decided.map(minutesOf))
  if (withinMinutes === null) return null
  const shareOf = (some: readonly QuotedMail[]): Share => ({
    part: some.filter(({ isWon }) => isWon).length,
    whole: some.length,
  })
  const fast = shareOf(decided.filter((mail) => minutesOf(mail) <= withinMinutes))
  const slow = shareOf(decided.filter((mail) => minutesOf(mail) > withinMinutes))
  const interval = differenceInterval(fast, slow, DEVIATIONS_95)
  if (interval === null || Math.min(fast.whole, slow.whole) < speedSideMin) return null
  return { withinMinutes, fast, slow, difference: fast.part / fast.whole - slow.part / slow.whole, interval }
}
