import type { AnswerOf } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import { watchesMax, watchMovesDays } from '#contract/limits.ts'
import * as contract from '#contract/watches.ts'
import { teams, watches } from '../../database/queries/index.ts'
import type { TenantTransaction, WatchRow } from '../../database/schema/index.ts'
import { readAskedLane } from '../../lanes/index.ts'
import { shownMoves } from '../../watches/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'

const dayMs = 86_400_000

async function watchesAnswer(
  transaction: TenantTransaction,
  { caller: { tenant, userId }, now }: Pick<Call<typeof contract.listWatches>, 'caller' | 'now'>,
): Promise<AnswerOf<typeof contract.listWatches>> {
  const all = await watches.listWatches(transaction, tenant, userId)
  const since = new Date(now - watchMovesDays * dayMs)
  const moves = await shownMoves(transaction, tenant, { userId, since })
  return {
    watches: all.map((watch) => ({
      id: watch.watch_id,
      kind: watch.kind,
      label: watch.label,
      followed_at: watch.followed_at.toISOString(),
      moves: moves
        .filter(({ move }) => move.watch_id === watch.watch_id)
        .map(({ move, title, detail }) => ({
          metric: move.metric,
          found_at: move.found_at.toISOString(),
          title,
          detail,
        })),
    })),
  }
}

type Asked = Pick<WatchRow, 'kind' | 'label' | 'origin' | 'destination' | 'equipment_code'>

const missing = (field: string, kind: string) =>
  invalid([{ pointer: `/${field}`, code: 'required', detail: `${field} is missing: a ${kind} needs it.` }])

/** @throws a 422 if a field is missing, superfluous or wrong */
function askedWatch({ body }: Pick<Call<typeof contract.follow>, 'body'>): Asked {
  const { kind, origin, destination, equipment, customer_name: customer } = body
  if (kind === 'customer') {
    if (customer === undefined) throw missing('customer_name', kind)
    return { kind, label: customer.trim(), origin: '', destination: '', equipment_code: null }
  }
  if (origin === undefined) throw missing('origin', kind)
  if (destination === undefined) throw missing('destination', kind)
  const lane = readAskedLane(
    { origin, destination, ...(equipment === undefined ? {} : { equipment }) },
    (name) => ({ pointer: `/${name}` }),
  )
  const of = lane.equipmentCode === null ? '' : `, ${lane.equipmentCode}`
  const ends = [lane.places.origin, lane.places.destination] as const
  const names = ends.map(({ city, state }) => `${city}, ${state}`).join(' to ')
  if (kind === 'lane') {
    return {
      kind,
      label: `${names}${of}`,
      origin: lane.origin.key,
      destination: lane.destination.key,
      equipment_code: lane.equipmentCode,
    }
  }
  const [from, to] = [lane.origin.market, lane.destination.market]
  const unknown = from === null ? 'origin' : to === null ? 'destination' : null
  if (from === null || to === null) {
    const detail = `${unknown} is in no known market area; send a known city.`
    throw invalid([{ pointer: `/${unknown}`, code: 'unknown', detail }])
  }
  return {
    kind,
    label: `Market of ${names}${of}`,
    origin: from,
    destination: to,
    equipment_code: lane.equipmentCode,
  }
}

export const watchEndpoints: ServedEndpoint[] = [
  serve(contract.listWatches, (call, { database }) =>
    database.inTenant(call.caller.tenant, (transaction) => watchesAnswer(transaction, call)),
  ),

  serve(contract.follow, (call, { database }) => {
    const { tenant, userId } = call.caller
    const asked = askedWatch(call)
    return database.inTenant(tenant, async (transaction) => {
      if (asked.kind === 'customer' && (await teams.isHiddenCustomer(transaction, tenant, asked.label))) {
        throw problem('not-found', `No quote that you can see is for ${asked.label}.`)
      }
      const before = await watches.listWatches(transaction, tenant, userId)
      const isNew = !before.some(({ kind, label }) => kind === asked.kind && label === asked.label)
      if (isNew && before.length >= watchesMax) {
        throw problem('state-conflict', `You follow ${watchesMax} already; stop following something first.`)
      }
      await watches.insertWatch(transaction, tenant, {
        ...asked,
        user_id: userId,
        followed_at: new Date(call.now),
      })
      return watchesAnswer(transaction, call)
    })
  }),

  serve(contract.stopFollowing, (call, { database }) => {
    const { tenant, userId } = call.caller
    return database.inTenant(tenant, async (transaction) => {
      const asked = { userId, watchId: call.params.id }
      if (!(await watches.deleteWatch(transaction, tenant, asked))) {
        throw problem('not-found', `You follow nothing with the number ${call.params.id}.`)
      }
      return watchesAnswer(transaction, call)
    })
  }),
]
