import type { ImportProgress } from '../database/queries/index.ts'
import { howMany, type ImportNote } from './import-notes.ts'
import type { RefusedRow } from './rows.ts'

/** The outcomes of refused rows. `unknown`: a word that is not known. */
export type RefusedOutcomes = Record<NonNullable<RefusedRow['outcome']>, number>

const kinds = ['won', 'lost', 'pending', 'expired', 'unknown'] as const

export const noneRefused = (): RefusedOutcomes => ({ won: 0, lost: 0, pending: 0, expired: 0, unknown: 0 })

/** Adds the counts of a batch. */
export function addRefused(counts: RefusedOutcomes, of: Readonly<RefusedOutcomes>): void {
  for (const kind of kinds) counts[kind] += of[kind]
}

/** From this share of the rows, refused rows of one kind change what is learned from the others. */
const shareMin = 0.05
/** From this difference, the share of quotes won is another one: it changes the rate to quote. */
const differenceMin = 0.1

/**
 * A sentence about refused rows of one kind, without which the share of quotes won is another one; none if the others are alike. The
 * advice learns from the share of quotes won at a rate, so wins alone teach it that every rate wins.
 */
export function refusedNotes(
  { rowsRead, rowsRefused, rowsWon, rowsLost }: ImportProgress,
  refused: RefusedOutcomes,
  isCheck: boolean,
): ImportNote[] {
  const decided = rowsWon + rowsLost
  if (decided === 0 || rowsRefused < shareMin * rowsRead) return []
  const all = decided + refused.won + refused.lost
  const [share, shareOfAll] = [rowsWon / decided, (rowsWon + refused.won) / all]
  const isOther = Math.abs(share - shareOfAll) >= differenceMin
  const kind = (['lost', 'won', 'unknown'] as const).find((one) => refused[one] * 2 > rowsRefused)
  if (!isOther && kind !== 'unknown') return []
  const rows = `${rowsRefused.toLocaleString('en-US')} of ${howMany(rowsRead, 'row')} ${isCheck ? 'are' : 'were'} refused`
  const most =
    kind === undefined
      ? ''
      : `, most of them ${kind === 'unknown' ? 'with a status that is not known' : kind}`
  const of = isOther ? `; of all rows whose outcome is known, ${percent(shareOfAll)} are won` : ''
  const detail = `${rows}${most}: with what remains, the share of quotes won ${isCheck ? 'would be' : 'is'} ${percent(share)}${of}.`
  return [{ code: 'refused_rows', column: null, detail, choices: [] }]
}

const percent = (share: number) => `${Math.round(100 * share)} %`
