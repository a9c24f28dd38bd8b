import { pagePaths } from '#contract/pages.ts'
import { type Role, roleAtLeast } from '#contract/roles.ts'
import { localDay } from '#engine/quote-statistics/local-days.ts'
import { findMove, WATCHED_METRICS } from '#engine/watch/lane-watch.ts'
import { type Books, type BrokerageBook, type Statistics, statisticsOf } from '../book/index.ts'
import type { Config } from '../configuration/index.ts'
import { people, readVersions, watches } from '../database/queries/index.ts'
import type { WatchMoveRow, WatchRow } from '../database/schema/index.ts'
import { type Database, runInBackground, type TenantId, withViewer } from '../database/session/index.ts'
import { queueMails } from '../mail/index.ts'
import type { Log } from '../runtime/index.ts'
import { moveInWords, type ShownMove } from './shown-moves.ts'

const lookEveryMs = 60_000
/** How long one process may take to scan a brokerage before another one begins. */
const leaseMs = 10 * 60_000
const dayMs = 86_400_000
/** Scans are at this hour of the brokerage, give or take an hour where the clock changes that night. */
const scanHourMs = 6 * 3_600_000
/** Days of quotes that new ones are compared with. */
const beforeDays = 120
/** After so many days without a move, what was new becomes what is compared with: a slow drift is no move. */
const epochDays = 60

type Move = Omit<WatchMoveRow, 'tenant_id'>

interface WatcherParts {
  readonly config: Pick<Config, 'mail'>
  readonly database: Database
  readonly books: Books<BrokerageBook>
  readonly clock: () => number
  readonly log: Log
}

/**
 * Once a day for each brokerage, looks for moves of what its people follow, stores those that it finds, and mails each person at most one
 * message a day about theirs. Several instances share the work, as for weekly reports. What is found follows from the stored quotes and the
 * stored moves, so a scan that is repeated finds and tells nothing twice.
 *
 * `scanNow` scans what is due. With `everyMs: null`, only that does.
 */
export function laneWatcher(
  parts: WatcherParts,
  { everyMs = lookEveryMs }: { readonly everyMs?: number | null } = {},
) {
  const { database, clock, log } = parts
  let stopping = false
  let running: Promise<unknown> = Promise.resolve()
  const look = () => {
    running = running.then(() =>
      scanNow().catch((error: unknown) => log.warn({ err: error }, 'watches could not be looked for')),
    )
  }
  const timer = everyMs === null ? undefined : setInterval(look, everyMs)
  timer?.unref()

  async function scanNow(): Promise<void> {
    const due = await runInBackground(() =>
      database.acrossTenants((transaction) => watches.tenantsWithDueWatches(transaction, new Date(clock()))),
    )
    for (const tenant of due) {
      if (stopping) return
      await runInBackground(() => scan(parts, tenant, () => stopping)).catch((error: unknown) =>
        log.warn({ err: error, tenant_id: tenant }, 'the watches of a brokerage were not scanned'),
      )
    }
  }

  return {
    scanNow,
    async drain() {
      stopping = true
      clearInterval(timer)
      await running
    },
  }
}

async function scan(parts: WatcherParts, tenant: TenantId, isStopping: () => boolean): Promise<void> {
  const { database, clock } = parts
  const now = clock()
  const isMine = await database.inTenant(tenant, (transaction) =>
    watches.claimScan(transaction, tenant, { now: new Date(now), leaseEnd: new Date(now + leaseMs) }),
  )
  if (!isMine) return
  const { users, all, earlier, timeZone } = await database.inTenant(tenant, async (transaction) => ({
    users: await people.listUsers(transaction, tenant),
    all: await watches.listWatches(transaction, tenant),
    earlier: await watches.listMoves(transaction, tenant, { since: new Date(0) }),
    timeZone: await people.timeZoneOf(transaction, tenant),
  }))
  for (const { user_id: userId, role, status } of users) {
    if (isStopping()) return
    const own = all.filter((watch) => watch.user_id === userId)
    if (own.length === 0 || status !== 'active') continue
    await scanFor(parts, tenant, { userId, role, own, earlier, now })
  }
  const next = new Date(localDay(timeZone, now, -1) + scanHourMs)
  await database.inTenant(tenant, (transaction) => watches.setNextScan(transaction, tenant, next))
}

interface PersonScan {
  readonly userId: number
  readonly role: Role
  readonly own: readonly WatchRow[]
  readonly earlier: readonly WatchMoveRow[]
  readonly now: number
}

/** Scans what a person follows, as they see it, and stores and mails the moves in one transaction. */
async function scanFor(
  parts: WatcherParts,
  tenant: TenantId,
  { userId, role, own, earlier, now }: PersonScan,
): Promise<void> {
  const { database, config } = parts
  const seesAll = roleAtLeast(role, 'admin')
  const versions = await database.inTenant(tenant, (transaction) => readVersions(transaction, tenant))
  const found = await withViewer(seesAll ? null : { userId }, async () => {
    const statistics = await statisticsOf(parts, tenant)
    const moves: ShownMove[] = []
    for (const watch of own) {
      for (const move of await movesOf(statistics, watch, earlier, now)) {
        moves.push(moveInWords(watch, { ...move, tenant_id: tenant }))
      }
    }
    return moves
  })
  if (found.length === 0) return
  await database.inTenant(tenant, async (transaction) => {
    await watches.insertMoves(
      transaction,
      tenant,
      found.map(({ move: { tenant_id: _, ...move } }) => move),
    )
    const { publicUrl } = config.mail
    const [first] = found
    const mail = {
      userId,
      kind: 'lane-watch',
      about: `day ${Math.floor(now / dayMs)}`,
      subject: found.length === 1 ? `Moved: ${first?.title}` : `${found.length} moves of what you follow`,
      body: [
        ...found.flatMap(({ title, detail }) => [title, `  ${detail}`, '']),
        `See them at ${publicUrl === null ? 'the inbox of Lanewise' : `${publicUrl}${pagePaths.inbox}`}`,
        'You can stop following under Settings, Your account.',
        '',
      ].join('\n'),
      ...(seesAll ? { needsRole: 'admin' as const } : { accessVersion: versions.access }),
      endsAt: new Date(now + 2 * dayMs),
    }
    await queueMails(transaction, tenant, [mail], { config, now })
  })
}

/** The scope and the selection of what is followed. */
function scopeOf({ kind, label, origin, destination, equipment_code: equipmentCode }: WatchRow) {
  switch (kind) {
    case 'lane':
      return {
        selection: {},
        scope: { originKey: origin, destinationKey: destination, equipmentCode },
      }
    case 'market':
      return {
        selection: {},
        scope: { originMarket: origin, destinationMarket: destination, equipmentCode },
      }
    case 'customer':
      return { selection: { customerName: label }, scope: {} }
  }
}

async function movesOf(
  statistics: Statistics,
  watch: WatchRow,
  earlier: readonly WatchMoveRow[],
  now: number,
): Promise<Move[]> {
  const today = Math.floor(now / dayMs)
  const followed = Math.floor(watch.followed_at.getTime() / dayMs)
  const { selection, scope } = scopeOf(watch)
  const since = (followed - beforeDays) * dayMs
  const { values, customers } = await statistics.watched(selection, scope, since)
  return WATCHED_METRICS.flatMap((metric): Move[] => {
    const last = earlier.find((move) => move.watch_id === watch.watch_id && move.metric === metric)
    const begin = last === undefined ? followed : last.found_on + 1
    const from = begin + epochDays * Math.floor(Math.max(0, today - begin) / epochDays)
    const earliest = Math.max(last?.since ?? followed - beforeDays, from - beforeDays)
    const some = values[metric].filter(({ day }) => day >= earliest && day <= today)
    const move = findMove(metric, some, { from })
    if (move === null) return []
    return [
      {
        watch_id: watch.watch_id,
        metric,
        found_on: today,
        since: move.since,
        found_at: new Date(now),
        before_value: move.before,
        after_value: move.after,
        values_before: move.valuesBefore,
        values_after: move.valuesAfter,
        customers: [...customers],
      },
    ]
  })
}
