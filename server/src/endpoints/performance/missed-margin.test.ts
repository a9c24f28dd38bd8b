import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { gazetteer } from '#geography/gazetteer.ts'
import { updateTenant } from '#server/database/queries/index.ts'
import { quotesChanged, tenantId } from '#server/database/session/index.ts'
import {
  call,
  type MadeTenant,
  makeLane,
  makePerson,
  makeSecret,
  makeServiceToken,
  makeTenant,
  pushUpdate,
  setColumns,
} from '#testing/make.ts'
import { quotesFile } from '#testing/quotes-file.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let tenant: MadeTenant
const now = Date.parse('2026-06-01T00:00:00Z')
const dayMs = 86_400_000
const kinds = ['won_too_low', 'not_worth'] as const
const customers = ['Harvest', 'Brook & Sons', 'HARVEST']

/** A history with customers. Every thirteenth quote was won below its cost. */
function history(): string {
  const [head, ...rows] = quotesFile({ seed: 5, quotes: 420, until: now, hours: 4 }).trimEnd().split('\n')
  const lines = rows.map((row, i) => {
    const cells = row.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)
    const cost = Number(cells[4])
    if (i % 13 === 0)
      cells.splice(3, 5, (0.97 * cost).toFixed(2), cost.toFixed(2), cost.toFixed(2), cells[6] ?? '', 'won')
    return [...cells, customers[i % customers.length]].join(',')
  })
  return `${head},customer\n${lines.join('\n')}\n`
}

beforeAll(async () => {
  gazetteer()
  app = await sharedApp()
  app.now = now
  tenant = await tenantWithHistory()
  await ended(missed('by=lane&kind=not_worth'), tenant.owner)
})

async function tenantWithHistory(): Promise<MadeTenant> {
  const made = await makeTenant(app)
  const response = await fetch(`${app.url}/api/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${made.owner}`, 'Content-Type': 'text/csv' },
    body: history(),
  })
  const { import_id: importId } = (await response.json()) as { import_id: number }
  await ended(`/api/imports/${importId}`, made.owner)
  return made
}

const missed = (query: string) => `/api/performance/missed-margin?${query}`
const quotes = (query: string) => `/api/performance/missed-margin/quotes?${query}`

/** Repeats a request until its status is no longer running. */
async function ended(path: string, token: string) {
  for (;;) {
    const answer = await call(app, 'GET', path, { token })
    if (answer.body.status !== 'running') return answer
    await delay(25)
  }
}

async function result(path: string, token = tenant.owner) {
  const { status, body } = await ended(path, token)
  expect([path, status]).toEqual([path, 200])
  return body
}

const cents = (dollars: number) => Math.round(100 * dollars)
const sum = (amounts: readonly number[]) => amounts.reduce((all, amount) => all + cents(amount), 0) / 100

async function allQuotes(query: string, token = tenant.owner) {
  const found = []
  for (let cursor = ''; ; ) {
    const page = await result(quotes(`${query}&limit=7${cursor}`), token)
    found.push(...page.quotes)
    if (page.next_cursor === null) return { quotes: found, totals: page.totals }
    cursor = `&cursor=${page.next_cursor}`
  }
}

describe('200', () => {
  it.each(kinds)(
    'the rows of %s add up to the totals, and the quotes of each row to the row',
    async (kind) => {
      for (const by of ['lane', 'customer'] as const) {
        const first = await result(missed(`by=${by}&kind=${kind}&limit=2`))
        const rows = [...first.rows]
        for (let next = first.next_cursor; next !== null; ) {
          const page = await result(missed(`by=${by}&kind=${kind}&limit=2&cursor=${next}`))
          rows.push(...page.rows)
          next = page.next_cursor
        }
        const totals = first.totals[kind]
        expect(totals.quotes).toBeGreaterThan(5)
        expect(rows.length).toBe(first.rows_total)
        expect(rows.length).toBeGreaterThanOrEqual(by === 'customer' ? 2 : 3)
        expect(sum(rows.map(({ amount }) => amount))).toBe(totals.amount)
        expect(totals.range_80.low).toBeLessThan(totals.amount)
        expect(totals.range_80.high).toBeGreaterThan(totals.amount)
        for (const row of rows) {
          const selected = new URLSearchParams(row.lane ?? { customer: row.label })
          const listed = await allQuotes(`kind=${kind}&${selected}`)
          expect(listed.quotes.length).toBe(row.quotes)
          expect(sum(listed.quotes.map(({ amount }) => amount))).toBe(row.amount)
          expect(listed.totals.range_80).toEqual(row.range_80)
        }
      }
    },
  )

  it('a quote that was won too low was won, below the better rate; one not worth winning is below its cost', async () => {
    for (const { lane, quoted_rate, better_rate, cost, ...quote } of (await allQuotes('kind=won_too_low'))
      .quotes) {
      expect(lane.outcome).toBe('won')
      expect(quoted_rate).toBeLessThan(better_rate)
      expect(quoted_rate).toBeGreaterThan(cost)
      expect(quote.win_probability_better).toBeLessThan(quote.win_probability)
    }
    for (const { lane, quoted_rate, cost, amount } of (await allQuotes('kind=not_worth')).quotes) {
      expect(lane.outcome).toBe('won')
      expect(cents(amount)).toBe(cents(cost) - cents(quoted_rate))
    }
  })

  it('exports the quotes as CSV, in the same order', async () => {
    const { quotes: listed } = await allQuotes('kind=not_worth&customer=harvest')
    const { status, text } = await csv('kind=not_worth&customer=harvest')
    expect(status).toBe(200)
    const lines = text.trimEnd().split('\r\n').slice(1)
    expect(lines.map((line) => line.split(',')[0])).toEqual(listed.map(({ lane }) => lane.lane_ref))
  })

  it('a voided quote, and one that is no longer won, are not in it', async () => {
    const before = await allQuotes('kind=not_worth')
    const [voided, lost] = before.quotes
    await setColumns(app, tenant, voided.lane.lane_id, { voided_at: new Date(), void_reason: 'Test' })
    await setColumns(app, tenant, lost.lane.lane_id, { outcome: 'lost' })
    // A new quote changes the version of the facts.
    await makeLane(app, tenant)
    const { body } = await ended(quotes('kind=not_worth'), tenant.owner)
    expect(body.current).toBe(false)
    expect(body.totals.quotes).toBe(before.totals.quotes - 2)
    expect(body.totals.amount).toBe(
      sum(before.quotes.slice(2).map(({ amount }: { amount: number }) => amount)),
    )
  })

  it('an expired quote is in it while the brokerage counts it as pending', async () => {
    const own = await tenantWithHistory()
    const id = tenantId(own.id)
    const changed = await app.database.inTenant(id, async (transaction) => {
      const expired = await transaction
        .updateTable('lanes')
        .set({ outcome: 'expired' })
        .where('tenant_id', '=', id)
        .where('outcome', '=', 'won')
        .where('created_at', '>=', new Date(now - 10 * dayMs))
        .whereRef('quoted_rate_cents', '<', 'estimated_cost_cents')
        .returning('lane_id')
        .execute()
      quotesChanged(
        transaction,
        expired.map(({ lane_id: laneId }) => laneId),
      )
      return expired
    })
    expect(changed.length).toBeGreaterThan(2)
    const expiredIn = async () => {
      const { quotes: listed, totals } = await allQuotes('kind=not_worth', own.owner)
      const sums = await result(missed('by=customer&kind=not_worth'), own.owner)
      expect(sums.totals.not_worth).toEqual(totals)
      expect(listed.length).toBe(totals.quotes)
      return listed.filter(({ lane }) => lane.outcome === 'expired').map(({ lane }) => lane.lane_id)
    }
    expect((await expiredIn()).toSorted()).toEqual(changed.map(({ lane_id: laneId }) => laneId).toSorted())
    await app.database.inTenant(id, (transaction) =>
      updateTenant(transaction, id, { expired_counts_as_lost: true }),
    )
    expect(await expiredIn()).toEqual([])
  })

  it('a person from whom a team hides a customer sees only the others', async () => {
    const member = await makePerson(app, tenant, 'member')
    await call(app, 'POST', '/api/teams', {
      token: tenant.owner,
      body: { name: 'Key accounts', members: [], customers: ['Harvest'] },
    })
    const all = await result(missed('by=customer&kind=won_too_low'))
    const own = await result(missed('by=customer&kind=won_too_low'), member.token)
    expect(all.rows.map(({ label }: { label: string }) => label.toLowerCase()).toSorted()).toEqual([
      'brook & sons',
      'harvest',
    ])
    expect(own.rows).toEqual(all.rows.filter(({ label }: { label: string }) => label === 'Brook & Sons'))
    expect(own.totals.won_too_low.amount).toBe(own.rows[0].amount)
    const { quotes: seen } = await allQuotes('kind=won_too_low', member.token)
    expect(new Set(seen.map(({ lane }) => lane.customer_name))).toEqual(new Set(['Brook & Sons']))
    expect((await csv('kind=won_too_low', member.token)).text).not.toMatch(/harvest/i)
  })

  it('reports too few quotes, and how many are needed', async () => {
    const other = await makeTenant(app)
    await makeLane(app, other, { outcome: 'won' })
    const found = await result(missed('by=lane&kind=not_worth'), other.owner)
    expect(found).toMatchObject({
      status: 'too_few',
      too_few: { decided: 1, needed: { decided: 200, tested: 60 } },
    })
    expect((await result(quotes('kind=not_worth'), other.owner)).status).toBe('too_few')
    expect((await csv('kind=not_worth', other.owner)).status).toBe(409)
  })
})

async function csv(query: string, token = tenant.owner) {
  const response = await fetch(`${app.url}/api/performance/missed-margin/export?${query}`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  return { status: response.status, text: await response.text() }
}

describe('401', () => {
  it('it requires a sign-in', async () => {
    expect((await call(app, 'GET', missed('by=lane&kind=not_worth'))).status).toBe(401)
    expect((await call(app, 'GET', quotes('kind=not_worth'))).status).toBe(401)
  })
})

describe('422', () => {
  it('an unknown kind or grouping, and a cursor of another query', async () => {
    const errors = async (path: string) => {
      const { status, body } = await call(app, 'GET', path, { token: tenant.owner })
      return [status, body.errors?.[0]?.parameter]
    }
    expect(await errors(missed('by=rep&kind=not_worth'))).toEqual([422, 'by'])
    expect(await errors(missed('by=lane&kind=both'))).toEqual([422, 'kind'])
    expect(await errors(quotes('kind=not_worth&origin=Nowhere'))).toEqual([422, 'origin'])
    const { next_cursor: next } = await result(missed('by=lane&kind=won_too_low&limit=1'))
    expect(await errors(missed(`by=customer&kind=won_too_low&cursor=${next}`))).toEqual([422, 'cursor'])
    expect(await errors(quotes(`kind=won_too_low&cursor=${next}`))).toEqual([422, 'cursor'])
  })
})

it('the margin of a booking in Canadian dollars is in US dollars, like all amounts of the answer', async () => {
  const { quotes: listed, totals: before } = await allQuotes('kind=not_worth')
  const [{ lane }] = listed
  await call(app, 'POST', '/api/exchange-rates', {
    token: tenant.owner,
    body: { rates: [{ day: lane.created_at.slice(0, 10), usd_per_cad: 0.75 }] },
  })
  const integration = {
    tenant,
    token: await makeServiceToken(app, tenant.owner),
    secret: await makeSecret(app, tenant.owner),
  }
  const booking = {
    ...{ lane_ref: lane.lane_ref, customer_rate: 1000, truck_cost: 800 },
    ...{ customer_currency: 'CAD', truck_currency: 'CAD' },
  }
  expect((await pushUpdate(app, integration, booking)).status).toBe(200)
  const { quotes: after, totals } = await allQuotes('kind=not_worth')
  const booked = after.find((quote) => quote.lane.lane_ref === lane.lane_ref)
  expect(booked).toMatchObject({ booked_margin: 150, lane: { margin: 200, margin_currency: 'CAD' } })
  expect(totals).toMatchObject({
    booked: before.booked + 1,
    booked_margin: (before.booked_margin ?? 0) + 150,
  })
  const { basis } = await result(quotes('kind=not_worth'))
  expect(basis).toMatchObject({ amounts: 'all_in', currency: 'USD', converted_by: { exchange: 1 } })
  const file = await call(app, 'GET', '/api/performance/missed-margin/export?kind=not_worth', {
    token: tenant.owner,
  })
  const [head, ...rows] = file.body.split('\r\n')
  expect(head).toMatch(/,Margin booked later,Basis,Currency$/)
  expect(rows.find((row: string) => row.startsWith(lane.lane_ref))).toMatch(/,150\.00,all_in,USD$/)
})
