import { beforeAll, describe, expect, test } from 'vitest'
import { pushQuotes } from '#contract/push-quotes.ts'
import { pushShipmentUpdates } from '#contract/push-shipment-updates.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makeQuote,
  makeServiceToken,
  pushSigned,
  pushUpdate,
  quoteToPush,
  requireStatus,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await sharedApp()
})

const everything = 'integrations:write quotes:write'
type Kind = 'quotes' | 'shipments'
interface Change {
  version: number
  removed: boolean
  lane_id?: number
  lane_ref?: string
  external_id?: string | null
  lane?: { lane_id: number; lane_ref: string; [name: string]: unknown }
}

async function page(
  { token }: Pick<Integration, 'token'>,
  kind: Kind,
  query: Record<string, string | number> = {},
) {
  const search = new URLSearchParams(query as Record<string, string>)
  const answer = await call(app, 'GET', `/api/integrations/${kind}?${search}`, { token })
  const body = requireStatus(`a page of ${kind}`, answer, 200)
  return { changes: body[kind] as Change[], cursor: body.next_cursor as string, more: body.more as boolean }
}

/** A reader that follows the cursor, remembers the state, and fails if it gets a version of a quote twice. */
function follower(ours: Pick<Integration, 'token'>, kind: Kind, limit = 3) {
  const lanes = new Map<number, unknown>()
  const seen = new Set<string>()
  let cursor: string | null = null
  return {
    lanes,
    async catchUp(): Promise<number> {
      let received = 0
      for (;;) {
        const next = await page(ours, kind, { limit, ...(cursor === null ? {} : { cursor }) })
        for (const { version, removed, lane: quote, lane_id } of next.changes) {
          const id = quote?.lane_id ?? lane_id ?? 0
          expect(seen).not.toContain(`${id} ${version}`)
          seen.add(`${id} ${version}`)
          if (removed) lanes.delete(id)
          else lanes.set(id, quote)
          received++
        }
        cursor = next.cursor
        if (!next.more) return received
      }
    },
  }
}

/** All quotes of the brokerage, by id, as the dashboard shows them. */
async function stateOf({ tenant }: Integration): Promise<Map<number, unknown>> {
  const { body } = await call(app, 'GET', '/api/lanes?limit=200', { token: tenant.owner })
  return new Map(body.lanes.map((quote: { lane_id: number }) => [quote.lane_id, quote]))
}

describe('quotes', () => {
  test('two readers who follow while others write end with the state of the service, each version once', {
    tags: 'long',
  }, async () => {
    const ours = await makeIntegration(app, everything)
    const readers = [follower(ours, 'quotes', 3), follower(ours, 'quotes', 7)]
    let over = false
    const reading = Promise.all(
      readers.map(async ({ catchUp }) => {
        while (!over) await catchUp()
      }),
    )
    const write = async (writer: number) => {
      for (let round = 0; round < 12; round++) {
        const at = Math.floor(app.now / 1000) + round
        await pushSigned(
          app,
          ours,
          pushQuotes,
          {
            quotes: Array.from({ length: 5 }, (_, nth) =>
              quoteToPush(`${(writer + nth * round) % 9}`, { quoted_rate: 1_000 + round * 10 + nth }),
            ),
          },
          at,
        )
        await makeQuote(app, ours.tenant, { rate: 1_500 + round, outcome: 'won' })
      }
    }
    await Promise.all([write(1), write(2), write(3)])
    over = true
    await reading
    const state = await stateOf(ours)
    expect(state.size).toBeGreaterThan(36)
    for (const { catchUp, lanes } of readers) {
      await catchUp()
      expect(lanes).toEqual(state)
      expect(await catchUp()).toBe(0)
    }
  })

  test('a delivery that changes nothing is not a new version', async () => {
    const ours = await makeIntegration(app, everything)
    const reader = follower(ours, 'quotes')
    await pushSigned(app, ours, pushQuotes, { quotes: [quoteToPush('A')] })
    const { lane_ref } = await makeQuote(app, ours.tenant)
    await pushUpdate(app, ours, { lane_ref, customer_rate: 2150 })
    expect(await reader.catchUp()).toBe(2)
    const later = Math.floor(app.now / 1000) + 60
    await pushSigned(app, ours, pushQuotes, { quotes: [quoteToPush('A')] }, later)
    await pushUpdate(app, ours, { lane_ref, customer_rate: 2150 }, later)
    expect(await reader.catchUp()).toBe(0)
  })

  test('updated_since, lane_ref and external_id select', async () => {
    const ours = await makeIntegration(app, everything)
    const made = await pushSigned(app, ours, pushQuotes, { quotes: [quoteToPush('A'), quoteToPush('B')] })
    const refs = made.body.results.map((one: { lane_ref: string }) => one.lane_ref)
    const refsOf = async (query: Record<string, string>) =>
      (await page(ours, 'quotes', query)).changes.map(({ lane: quote }) => quote?.lane_ref)
    expect(await refsOf({ external_id: 'B' })).toEqual([refs[1]])
    expect(await refsOf({ lane_ref: refs[0] })).toEqual([refs[0]])
    expect(await refsOf({ external_id: 'C' })).toEqual([])
    expect((await refsOf({ updated_since: '2020-01-01' })).toSorted()).toEqual(refs.toSorted())
    expect(await refsOf({ updated_since: '2199-01-01' })).toEqual([])
  })

  test('another brokerage has its own', async () => {
    const [ours, theirs] = [await makeIntegration(app), await makeIntegration(app)]
    const { lane_ref } = await makeQuote(app, theirs.tenant)
    expect((await page(ours, 'quotes')).changes).toEqual([])
    expect((await page(ours, 'quotes', { lane_ref })).changes).toEqual([])
  })

  test('a quote whose import was undone is reported as removed', async () => {
    const ours = await makeIntegration(app)
    const reader = follower(ours, 'quotes')
    const csv =
      'Ship From,Ship To,Equip,Sell Rate,Quote Date,Status\n"Dallas, TX","Atlanta, GA",Van,2150,3/1/2026,Lost\n'
    const ended = async (id: number, status: string) =>
      expect
        .poll(
          async () =>
            (await call(app, 'GET', `/api/imports/${id}`, { token: ours.tenant.owner })).body.status,
        )
        .toBe(status)
    const upload = await fetch(`${app.url}/api/imports`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ours.tenant.owner}`, 'Content-Type': 'text/csv' },
      body: csv,
    })
    const body = (await upload.json()) as { import_id: number }
    await ended(body.import_id, 'done')
    expect(await reader.catchUp()).toBe(1)
    expect(reader.lanes.size).toBe(1)
    await call(app, 'POST', `/api/imports/${body.import_id}/undo`, { token: ours.tenant.owner })
    await ended(body.import_id, 'undone')
    const { changes } = await page(ours, 'quotes')
    expect(await reader.catchUp()).toBe(1)
    expect(reader.lanes.size).toBe(0)
    expect(changes).toMatchObject([
      { removed: true, external_id: null, lane_ref: expect.stringMatching(/-1-1$/) },
    ])
    // It never had a booking, so a reader of shipments never had it.
    expect((await page(ours, 'shipments')).changes).toEqual([])
  })
})

describe('a reader of shipments', () => {
  test('a page has as many as the limit says, however many quotes have no booking', async () => {
    const ours = await makeIntegration(app, everything)
    const quotes = Array.from({ length: 60 }, (_, nth) => quoteToPush(`Q-${nth}`))
    await pushSigned(app, ours, pushQuotes, { quotes })
    const updates = [5, 25, 26, 59].map((nth) => ({ external_id: `Q-${nth}`, customer_rate: 2_000 }))
    await pushSigned(app, ours, pushShipmentUpdates, { updates: updates.slice(0, 2) })
    await pushSigned(app, ours, pushShipmentUpdates, { updates: updates.slice(2) })
    const first = await page(ours, 'shipments', { limit: 3 })
    expect([first.changes.length, first.more]).toEqual([3, true])
    const second = await page(ours, 'shipments', { limit: 3, cursor: first.cursor })
    expect([second.changes.length, second.more]).toEqual([1, false])
    expect((await page(ours, 'shipments', { limit: 3, cursor: second.cursor })).changes).toEqual([])
  })

  test('a quote is removed if its booking was rolled back, with its names, and never before it was booked', async () => {
    const ours = await makeIntegration(app, everything)
    const ids = Array.from({ length: 30 }, (_, nth) => `R-${nth}`)
    await pushSigned(app, ours, pushQuotes, { quotes: ids.map((id) => quoteToPush(id)) })
    let over = false
    const removed: Change[] = []
    const reading = (async () => {
      while (!over) removed.push(...(await page(ours, 'shipments')).changes.filter((one) => one.removed))
    })()
    for (const id of ids) {
      await pushSigned(app, ours, pushShipmentUpdates, {
        updates: [{ external_id: id, customer_rate: 2_000 }],
      })
    }
    over = true
    await reading
    expect(removed).toEqual([])
    const { changes } = await page(ours, 'shipments', { external_id: 'R-7' })
    const lane_ref = changes[0]?.lane?.lane_ref ?? ''
    const rolledBack = await call(app, 'POST', `/api/lanes/${lane_ref}/rollback`, {
      token: ours.tenant.owner,
      body: { change_id: 1 },
    })
    expect(rolledBack.status).toBe(200)
    expect((await page(ours, 'shipments', { external_id: 'R-7' })).changes).toMatchObject([
      { removed: true, lane_ref, external_id: 'R-7' },
    ])
  })
})

describe('shipments', () => {
  test('are the quotes with a booking, also a cancelled one, until it is rolled back', async () => {
    const ours = await makeIntegration(app)
    const reader = follower(ours, 'shipments')
    const [one, two] = [await makeQuote(app, ours.tenant), await makeQuote(app, ours.tenant)]
    // A quote with a history that never had a booking is not in the list.
    await makeQuote(app, ours.tenant, { outcome: 'lost' })
    expect(await reader.catchUp()).toBe(0)
    await pushUpdate(app, ours, { lane_ref: one.lane_ref, customer_rate: 2100 })
    await pushUpdate(app, ours, { lane_ref: two.lane_ref, truck_cost: 1800 })
    app.now += 2_000
    await pushUpdate(app, ours, { lane_ref: two.lane_ref, cancelled: true })
    await reader.catchUp()
    const held = [...reader.lanes.values()] as { lane_ref: string; cancelled_at: string | null }[]
    expect(held.map(({ lane_ref, cancelled_at }) => [lane_ref, cancelled_at === null])).toEqual([
      [one.lane_ref, true],
      [two.lane_ref, false],
    ])
    await call(app, 'POST', `/api/lanes/${one.lane_ref}/rollback`, {
      token: ours.tenant.owner,
      body: { change_id: 1 },
    })
    expect(await reader.catchUp()).toBe(1)
    expect(reader.lanes.size).toBe(1)
  })
})

describe('422 and 403', () => {
  test('a cursor of another list, and a limit that is too large', async () => {
    const ours = await makeIntegration(app)
    for (const query of ['cursor=abc', 'cursor=WyJhIiwxXQ', 'limit=501', 'updated_since=yesterday'])
      expect(
        (await call(app, 'GET', `/api/integrations/quotes?${query}`, { token: ours.token })).status,
      ).toBe(422)
  })

  test('a token that may only push quotes reads nothing', async () => {
    const ours = await makeIntegration(app)
    const token = await makeServiceToken(app, ours.tenant.owner, 'quotes:write')
    expect((await call(app, 'GET', '/api/integrations/quotes', { token })).status).toBe(403)
  })
})
