import { setTimeout as delay } from 'node:timers/promises'
import Papa from 'papaparse'
import { beforeAll, describe, expect, it } from 'vitest'
import { missedQuotesMax } from '#contract/limits.ts'
import { gazetteer } from '#geography/gazetteer.ts'
import { updateTenant } from '#server/database/queries/index.ts'
import { quotesChanged, tenantId } from '#server/database/session/index.ts'
import {
  backtestReport,
  call,
  type MadeTenant,
  makePerson,
  makeQuote,
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
  await report()
})

async function tenantWithHistory(): Promise<MadeTenant> {
  const made = await makeTenant(app)
  const response = await fetch(`${app.url}/api/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${made.owner}`, 'Content-Type': 'text/csv' },
    body: history(),
  })
  const { import_id: importId } = (await response.json()) as { import_id: number }
  const running = async () =>
    (await call(app, 'GET', `/api/imports/${importId}`, { token: made.owner })).body.status === 'running'
  while (await running()) await delay(25)
  return made
}

async function report(token = tenant.owner) {
  const { status, body } = await backtestReport(app, token)
  expect(status).toBe(200)
  return body
}

const cents = (dollars: number) => Math.round(100 * dollars)
const sum = (amounts: readonly number[]) => amounts.reduce((all, amount) => all + cents(amount), 0) / 100

async function csv(token = tenant.owner) {
  const response = await fetch(`${app.url}/api/backtest/export`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  return { status: response.status, text: await response.text() }
}

/** The lines of the file. */
async function allQuotes(token = tenant.owner) {
  const { status, text } = await csv(token)
  expect(status).toBe(200)
  const [head = [], ...rows] = Papa.parse<string[]>(text.replace(/^\uFEFF/, '').trimEnd()).data
  return rows.map((cells) => {
    const cell = (name: string) => cells[head.indexOf(name)] ?? ''
    return {
      ref: cell('Quote'),
      finding: cell('Finding'),
      customer: cell('Customer'),
      outcome: cell('Outcome'),
      amount: Number(cell('Amount (estimate)')),
      booked: cell('Margin booked later'),
    }
  })
}

describe('200', () => {
  it('the quotes of the file add up to the totals of the report, which has the largest of them', async () => {
    const { missed } = await report()
    const listed = await allQuotes()
    for (const kind of kinds) {
      const ofKind = listed.filter(({ finding }) => finding === kind)
      const totals = missed[kind]
      expect(totals.quotes).toBeGreaterThan(5)
      expect(ofKind.length).toBe(totals.quotes)
      expect(sum(ofKind.map(({ amount }) => amount))).toBe(totals.amount)
      expect(totals.range_80.low).toBeLessThan(totals.amount)
      expect(totals.range_80.high).toBeGreaterThan(totals.amount)
    }
    const amounts = listed.map(({ amount }) => amount)
    expect(amounts).toEqual(amounts.toSorted((one, other) => other - one))
    const shown = missed.quotes.map(({ lane: quote }: { lane: { lane_ref: string } }) => quote.lane_ref)
    expect(shown).toEqual(listed.slice(0, missedQuotesMax).map(({ ref }) => ref))
  })

  it('a quote that was won too low was won, below the better rate; one not worth winning is below its cost', async () => {
    const { quotes } = (await report()).missed
    expect(new Set(quotes.map(({ finding }: { finding: string }) => finding))).toEqual(new Set(kinds))
    for (const { lane: made, finding, quoted_rate, better_rate, cost, amount, ...quote } of quotes) {
      expect(made.outcome).toBe('won')
      if (finding === 'won_too_low') {
        expect(quoted_rate).toBeLessThan(better_rate)
        expect(quoted_rate).toBeGreaterThan(cost)
        expect(quote.win_probability_better).toBeLessThan(quote.win_probability)
      } else expect(cents(amount)).toBe(cents(cost) - cents(quoted_rate))
    }
  })

  it('a voided quote, and one that is no longer won, are not in it', async () => {
    const { missed: before } = await report()
    const [voided, lost] = before.quotes.filter(({ finding }: { finding: string }) => finding === 'not_worth')
    await setColumns(app, tenant, voided.lane.lane_id, { voided_at: new Date(), void_reason: 'Test' })
    await setColumns(app, tenant, lost.lane.lane_id, { outcome: 'lost' })
    // A new quote changes the version of the facts.
    await makeQuote(app, tenant)
    const { current, missed } = await report()
    expect(current).toBe(false)
    expect(missed.not_worth.quotes).toBe(before.not_worth.quotes - 2)
    expect(cents(missed.not_worth.amount)).toBe(
      cents(before.not_worth.amount) - cents(voided.amount) - cents(lost.amount),
    )
  })

  it('an expired quote is in it while the brokerage counts it as pending', async () => {
    const own = await tenantWithHistory()
    const id = tenantId(own.id)
    const changed = await app.database.inTenant(id, async (transaction) => {
      const expired = await transaction
        .updateTable('quotes')
        .set({ outcome: 'expired' })
        .where('tenant_id', '=', id)
        .where('outcome', '=', 'won')
        .where('created_at', '>=', new Date(now - 10 * dayMs))
        .whereRef('quoted_rate_cents', '<', 'estimated_cost_cents')
        .returning(['lane_id', 'lane_ref'])
        .execute()
      quotesChanged(
        transaction,
        expired.map(({ lane_id: quoteId }) => quoteId),
      )
      return expired
    })
    expect(changed.length).toBeGreaterThan(2)
    const expiredIn = async () => {
      const { missed } = await report(own.owner)
      const ofKind = (await allQuotes(own.owner)).filter(({ finding }) => finding === 'not_worth')
      expect(ofKind.length).toBe(missed.not_worth.quotes)
      return ofKind.filter(({ outcome }) => outcome === 'expired').map(({ ref }) => ref)
    }
    expect((await expiredIn()).toSorted()).toEqual(changed.map(({ lane_ref: ref }) => ref).toSorted())
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
    const customersIn = (quotes: readonly { customer: string }[]) =>
      new Set(quotes.map(({ customer }) => customer.toLowerCase()))
    expect(customersIn(await allQuotes())).toEqual(new Set(['brook & sons', 'harvest']))
    const seen = await allQuotes(member.token)
    expect(customersIn(seen)).toEqual(new Set(['brook & sons']))
    const { missed } = await report(member.token)
    expect(missed.won_too_low.quotes + missed.not_worth.quotes).toBe(seen.length)
    expect(JSON.stringify(missed)).not.toMatch(/harvest/i)
  })

  it('is not in the report of too few quotes, and the file is refused', async () => {
    const other = await makeTenant(app)
    await makeQuote(app, other, { outcome: 'won' })
    expect(await report(other.owner)).toMatchObject({ result: { enough: false }, missed: null })
    expect((await csv(other.owner)).status).toBe(409)
  })
})

it('the margin of a booking in Canadian dollars is in US dollars, like all amounts of the answer', async () => {
  const { quotes, not_worth: before } = (await report()).missed
  const { lane: made } = quotes.find(({ finding }: { finding: string }) => finding === 'not_worth')
  await call(app, 'POST', '/api/exchange-rates', {
    token: tenant.owner,
    body: { rates: [{ day: made.created_at.slice(0, 10), usd_per_cad: 0.75 }] },
  })
  const integration = {
    tenant,
    token: await makeServiceToken(app, tenant.owner),
    secret: await makeSecret(app, tenant.owner),
  }
  const booking = {
    ...{ lane_ref: made.lane_ref, customer_rate: 2600, truck_cost: 2400 },
    ...{ customer_currency: 'CAD', truck_currency: 'CAD' },
  }
  expect((await pushUpdate(app, integration, booking)).status).toBe(200)
  const { missed, basis } = await report()
  const booked = missed.quotes.find((quote: { lane: typeof made }) => quote.lane.lane_ref === made.lane_ref)
  expect(booked).toMatchObject({ booked_margin: 150, lane: { margin: 200, margin_currency: 'CAD' } })
  expect(missed.not_worth).toMatchObject({
    booked: before.booked + 1,
    booked_margin: (before.booked_margin ?? 0) + 150,
  })
  expect(basis).toMatchObject({ amounts: 'all_in', currency: 'USD', converted_by: { exchange: 1 } })
  const [head, ...rows] = (await csv()).text.split('\r\n')
  expect(head).toMatch(/,Margin booked later,Basis,Currency$/)
  expect(rows.find((row) => row.startsWith(made.lane_ref))).toMatch(/,150\.00,all_in,USD$/)
})
