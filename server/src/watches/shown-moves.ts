import { formatDollars } from '#engine/money.ts'
import { teams, watches } from '../database/queries/index.ts'
import type { TenantTransaction, WatchMoveRow, WatchRow } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'

const dayMs = 86_400_000
const metricWords = { cost: 'truck cost', rate: 'quoted rate', win_rate: 'win rate' } as const
/** What a metric is counted on, for one and for several. */
const countedWords = {
  cost: ['load with a truck cost', 'loads with a truck cost'],
  rate: ['quote', 'quotes'],
  win_rate: ['answered quote', 'answered quotes'],
} as const

/** A move in words, with what it is of. */
export interface ShownMove {
  readonly watch: WatchRow
  readonly move: WatchMoveRow
  readonly title: string
  readonly detail: string
}

const dayForm = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** A value of a metric in words. */
function inWords({ metric }: Pick<WatchMoveRow, 'metric'>, value: number): string {
  if (metric === 'win_rate') return `${(100 * value).toFixed(0)}%`
  return formatDollars(Math.round(Math.exp(value)) * 100)
}

/** A move in words: what moved, by how much, since when, and on how many values that rests. */
export function moveInWords(watch: WatchRow, move: WatchMoveRow): ShownMove {
  const change =
    move.metric === 'win_rate'
      ? `${(100 * Math.abs(move.after_value - move.before_value)).toFixed(0)} points`
      : `${(100 * Math.abs(Math.expm1(move.after_value - move.before_value))).toFixed(1)}%`
  const isUp = move.after_value > move.before_value
  const [one, several] = countedWords[move.metric]
  return {
    watch,
    move,
    title: `${watch.label}: ${metricWords[move.metric]} ${isUp ? 'up' : 'down'} ${change}`,
    detail: `${inWords(move, move.after_value)} on ${move.values_after} ${move.values_after === 1 ? one : several} since ${dayForm.format(move.since * dayMs)}; ${inWords(move, move.before_value)} on ${move.values_before} before.`,
  }
}

/** Whether any customer behind a move is hidden from the current person by now. */
async function isHidden(
  transaction: TenantTransaction,
  tenant: TenantId,
  { customers }: WatchMoveRow,
): Promise<boolean> {
  for (const name of customers) {
    if (await teams.isHiddenCustomer(transaction, tenant, name)) return true
  }
  return false
}

/** The moves since a time of what a person follows, newest first, without those that rest on a customer who is hidden from them by now. */
export async function shownMoves(
  transaction: TenantTransaction,
  tenant: TenantId,
  { userId, since }: { readonly userId: number; readonly since: Date },
): Promise<ShownMove[]> {
  const moves = await watches.listMoves(transaction, tenant, { since, userId })
  if (moves.length === 0) return []
  const byId = new Map(
    (await watches.listWatches(transaction, tenant, userId)).map((watch) => [watch.watch_id, watch]),
  )
  const hides = await teams.hidesCustomers(transaction, tenant)
  const shown: ShownMove[] = []
  for (const move of moves) {
    const watch = byId.get(move.watch_id)
    if (watch === undefined || (hides && (await isHidden(transaction, tenant, move)))) continue
    shown.push(moveInWords(watch, move))
  }
  return shown
}
