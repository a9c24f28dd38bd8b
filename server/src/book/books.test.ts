import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { appOn } from '#testing/app-on-database.ts'
import {
  call,
  type Integration,
  type MadeTenant,
  makeIntegration,
  makeQuote,
  makeTenant,
  pushUpdate,
} from '#testing/make.ts'
import { type MapBook, mapBook } from '#testing/map-book.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { type TenantWatch, tenantWatch } from '../cache/index.ts'
import { changeQuote, lockQuote } from '../database/queries/index.ts'
import {
  type Database,
  DatabaseUnavailable,
  RequestDeadline,
  type TenantId,
  tenantId,
  withDeadline,
} from '../database/session/index.ts'
import { type Books, type BooksOptions, books } from './books.ts'
import { openQuotes } from './quote-rows.ts'

/** Two processes on one database. */
let app: TestApp
let elsewhere: TestApp
const watches: TenantWatch[] = []

beforeAll(async () => {
  app = await testApp()
  elsewhere = await appOn(app.testDatabase, { secretKeys: [app.secretKey], now: app.now })
})
afterAll(async () => {
  for (const watch of watches) await watch.stop()
  await elsewhere.close()
  await app.close()
})

const silent = { info() {}, warn() {}, error() {} }

interface Shelf {
  readonly books: Books<MapBook>
  readonly watch: TenantWatch
  /** The state of the fake connection to the database: a test can cut it, or let it wait at `gate`. */
  readonly stand: { cut: boolean; gate: Promise<void>; transactions: number; server: string; at: number }
}

/** The books of another process, with a database that the test can cut. */
function shelfOn(process: TestApp, options: Partial<BooksOptions<MapBook>> = {}): Shelf {
  const stand = { cut: false, gate: Promise.resolve(), transactions: 0, server: '', at: 0 }
  const use = () => {
    if (stand.cut) throw new DatabaseUnavailable(new Error('cut'))
  }
  const database: Pick<Database, 'deadlines' | 'inTenant' | 'changedTenants' | 'onVersionsMoved'> = {
    deadlines: process.database.deadlines,
    async inTenant(tenant, work) {
      stand.transactions++
      await stand.gate
      use()
      return process.database.inTenant(tenant, work)
    },
    async changedTenants(since) {
      use()
      const changed = await process.database.changedTenants(since)
      return { ...changed, server: `${changed.server}${stand.server}` }
    },
    onVersionsMoved: process.database.onVersionsMoved,
  }
  const watch = tenantWatch({ database, monotonic: () => performance.now(), log: silent })
  watches.push(watch)
  const made = books<MapBook>({
    database,
    watch,
    make: mapBook,
    bytesMax: 1_000_000,
    monotonic: () => stand.at,
    ...options,
  })
  return { books: made, watch, stand }
}

/** All quotes of a brokerage as they are in the database. */
async function plainRows(own: TenantId): Promise<Map<number, string>> {
  const book = mapBook()
  await openQuotes(app.database, own, book)
  return new Map(book.rows)
}

const rowsOf = async (shelf: Shelf, own: TenantId) => new Map((await shelf.books.read(own)).quotes.rows)

async function ended(process: TestApp, tenant: MadeTenant, importId: number): Promise<void> {
  for (;;) {
    const { body } = await call(process, 'GET', `/api/imports/${importId}`, { token: tenant.owner })
    if (body.status !== 'running' && body.status !== 'undoing') return
    await delay(20)
  }
}

describe('an open book', () => {
  interface World {
    readonly ours: Integration
    readonly drawn: (to: number) => number
    readonly refs: string[]
    readonly imports: number[]
  }

  /** Makes one random change through a process. Some changes are refused and change nothing. */
  async function change({ ours, drawn, refs, imports }: World, process: TestApp): Promise<string> {
    const { tenant } = ours
    const token = tenant.owner
    const ref = refs[drawn(refs.length)]
    const rate = 1_500 + drawn(900)
    const post = (path: string, body?: object) =>
      call(process, 'POST', path, { token, ...(body && { body }) })
    switch (refs.length < 4 ? 0 : drawn(8)) {
      case 0: {
        const places = ['Dallas, TX', 'Atlanta, GA', 'Macon, GA']
        const [origin, destination] = [places[drawn(3)] ?? '', places[drawn(3)] ?? '']
        refs.push((await makeQuote(process, tenant, { origin, destination, rate })).lane_ref)
        return 'a quote'
      }
      case 1:
        await post(`/api/lanes/${ref}/outcome`, { outcome: ['won', 'lost', 'pending'][drawn(3)] })
        return 'an outcome'
      case 2: {
        const again = await post(`/api/lanes/${ref}/requote`, { quoted_rate: rate })
        if (again.status === 201) refs.push(again.body.lane_ref)
        return 'a requote'
      }
      case 3: {
        const { body } = await call(process, 'GET', `/api/lanes/${ref}/changes`, { token })
        const [newest] = body.changes ?? []
        if (newest !== undefined) await post(`/api/lanes/${ref}/rollback`, { change_id: newest.change_id })
        return 'a rollback'
      }
      case 4: {
        const rows = Array.from({ length: 1 + drawn(4) }, (_, at) =>
          [`L${drawn(6)}`, '"Dallas, TX"', '"Macon, GA"', 'V', rate + at, `2026-0${1 + drawn(9)}-03`].join(
            ',',
          ),
        )
        const answer = await fetch(`${process.url}/api/imports`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'text/csv' },
          body: ['Load ID,Origin,Destination,Equipment,Quoted Rate,Quote Date', ...rows].join('\n'),
        })
        const { import_id } = (await answer.json()) as { import_id: number }
        await ended(process, tenant, import_id)
        imports.push(import_id)
        return 'an import'
      }
      case 5: {
        const importId = imports.pop()
        if (importId === undefined) return 'nothing'
        await post(`/api/imports/${importId}/undo`)
        await ended(process, tenant, importId)
        return 'an import undone'
      }
      case 6: {
        const own = tenantId(tenant.id)
        const givenUp = process.database.inTenant(own, async (transaction) => {
          const quote = await lockQuote(transaction, own, ref ?? '')
          if (quote === null) throw new Error('given up')
          await changeQuote(transaction, own, quote, { truck_cost_cents: 1 }, { source: 'tms' }, new Date())
          throw new Error('given up')
        })
        await expect(givenUp).rejects.toThrow('given up')
        return 'a transaction that is given up'
      }
      default:
        await pushUpdate(process, ours, { lane_ref: ref, customer_rate: rate, truck_cost: rate - 200 })
        return 'a signed update'
    }
  }

  /** Reads a book in two processes after each of so many random changes. */
  async function expectCurrentAfter(steps: number): Promise<void> {
    const ours = await makeIntegration(app)
    const own = tenantId(ours.tenant.id)
    let seed = 11
    const drawn = (to: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % Math.max(1, to)
    }
    const world: World = { ours, drawn, refs: [], imports: [] }
    const shelves = [shelfOn(app), shelfOn(elsewhere)] as const
    const done = new Set<string>()
    for (let step = 0; step < steps; step++) {
      const at = drawn(2)
      const [mine, other] = at === 0 ? shelves : shelves.toReversed()
      if (mine === undefined || other === undefined) throw new Error('No shelf.')
      const what = await change(world, at === 0 ? app : elsewhere)
      done.add(what)
      const truth = await plainRows(own)
      expect([what, await rowsOf(mine, own)]).toEqual([what, truth])
      await expect.poll(() => rowsOf(other, own), { interval: 10, message: what }).toEqual(truth)
      // `peek` returns null if the database has not answered recently.
      const peeked: (typeof truth)[] = []
      await expect
        .poll(() => {
          const book = mine.books.peek(own)
          if (book !== null) peeked.push(new Map(book.quotes.rows))
          return peeked.length
        })
        .toBeGreaterThan(0)
      expect(peeked[0]).toEqual(truth)
    }
    expect(done.size).toBeGreaterThanOrEqual(8)
    expect(shelves.map((shelf) => shelf.books.counts().opened)).toEqual([1, 1])
  }

  test('equals a newly opened book after every kind of change: at once in the process that wrote, and soon in another process', () =>
    expectCurrentAfter(30))

  test('does so after many changes', { tags: 'long' }, () => expectCurrentAfter(90))

  test('has new settings of the brokerage without reading a quote', async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    await makeQuote(app, tenant)
    const shelf = shelfOn(app)
    const before = await shelf.books.read(own)
    const { status } = await call(app, 'PATCH', '/api/tenant', {
      token: tenant.owner,
      body: { win_probability_method: 'revealed' },
    })
    expect(status).toBe(200)
    expect(shelf.books.peek(own)).toBeNull()
    const after = await shelf.books.read(own)
    expect([before.settings.method, after.settings.method]).toEqual(['at_or_below', 'revealed'])
    expect(after.quotes).toBe(before.quotes)
    expect(after.versions.facts).toBe(before.versions.facts)
  })

  test('is opened again if it is unknown which quotes changed', async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    await makeQuote(app, tenant)
    const shelf = shelfOn(app)
    const before = await shelf.books.read(own)
    await makeQuote(app, tenant, { rate: 1_234 })
    await makeQuote(app, tenant, { rate: 1_235 })
    await app.database.inTenant(own, (transaction) =>
      transaction
        .updateTable('tenant_facts')
        .set({ unlogged_version: 2 })
        .where('tenant_id', '=', own)
        .execute(),
    )
    const after = await shelf.books.read(own)
    expect(after.quotes).not.toBe(before.quotes)
    expect(new Map(after.quotes.rows)).toEqual(await plainRows(own))
    expect(shelf.books.counts()).toMatchObject({ books: 1, opened: 2, closed: 1, quotes: 3, bytes: 300 })
  })

  test('is dropped if the database is replaced', async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    await makeQuote(app, tenant)
    const shelf = shelfOn(app)
    const before = await shelf.books.read(own)
    shelf.stand.server = ' another'
    await expect.poll(() => shelf.books.peek(own), { interval: 10 }).toBeNull()
    expect((await shelf.books.read(own)).quotes).not.toBe(before.quotes)
  })
})

describe('a database that fails', () => {
  test('makes reads fail instead of returning old data; the book is current again afterwards', async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    await makeQuote(app, tenant)
    const shelf = shelfOn(app)
    const { quotes } = await shelf.books.read(own)
    shelf.stand.cut = true
    await makeQuote(elsewhere, tenant, { rate: 1_700 })
    // The last answer of the database is valid for 800 ms.
    await expect.poll(() => shelf.books.peek(own)).toBeNull()
    await expect(shelf.books.read(own)).rejects.toThrow(DatabaseUnavailable)
    await expect(Promise.all([shelf.books.read(own), shelf.books.read(own)])).rejects.toThrow(
      DatabaseUnavailable,
    )
    shelf.stand.cut = false
    expect(await rowsOf(shelf, own)).toEqual(await plainRows(own))
    expect((await shelf.books.read(own)).quotes).toBe(quotes)
  })

  test('fails the opening in progress, and the next read starts another one', async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    await makeQuote(app, tenant)
    const shelf = shelfOn(app)
    shelf.stand.cut = true
    const first = [shelf.books.read(own), shelf.books.read(own)]
    for (const read of first) await expect(read).rejects.toThrow(DatabaseUnavailable)
    shelf.stand.cut = false
    expect((await rowsOf(shelf, own)).size).toBe(1)
    expect(shelf.books.counts()).toMatchObject({ opened: 1, bytes: 100 })
  })

  test('a read waits for a slow opening for a limited time, and the opening continues', async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    await makeQuote(app, tenant)
    const shelf = shelfOn(app, { openingWaitMs: 50 })
    const { promise, resolve } = Promise.withResolvers<void>()
    shelf.stand.gate = promise
    await expect(shelf.books.read(own)).rejects.toThrow(DatabaseUnavailable)
    resolve()
    await expect.poll(() => shelf.books.counts().opened).toBe(1)
    expect((await rowsOf(shelf, own)).size).toBe(1)
    expect(shelf.books.counts().opened).toBe(1)
  })

  test('a request waits for an opening without an answer only until its deadline', async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    const shelf = shelfOn(app)
    const { promise, resolve } = Promise.withResolvers<void>()
    shelf.stand.gate = promise
    const opened = () => withDeadline(new RequestDeadline(50), () => shelf.books.read(own))
    await expect(opened()).rejects.toThrow(DatabaseUnavailable)
    // The second request joins the opening of the first.
    await expect(opened()).rejects.toThrow(DatabaseUnavailable)
    resolve()
  })

  test('an opening that gets answers slowly but steadily may take longer than the deadline in total', {
    tags: 'measure',
  }, async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    await makeQuote(app, tenant)
    const shelf = shelfOn(app)
    Object.defineProperty(shelf.stand, 'gate', { get: () => delay(1_500) })
    const { quotes } = await withDeadline(new RequestDeadline(2_800), () => shelf.books.read(own))
    expect(quotes.size).toBe(1)
  })
})

describe('concurrent reads', () => {
  test('share one opening and one update of the book; a read after a change does not use an update from before it', async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    await makeQuote(app, tenant)
    const shelf = shelfOn(app)
    const readAll = () => Promise.all(Array.from({ length: 20 }, () => shelf.books.read(own)))
    expect(new Set((await readAll()).map(({ quotes }) => quotes)).size).toBe(1)
    expect(shelf.books.counts()).toMatchObject({ opened: 1, followed: 1 })

    await makeQuote(app, tenant, { rate: 1_800 })
    const { promise, resolve } = Promise.withResolvers<void>()
    shelf.stand.gate = promise
    const early = readAll()
    await expect.poll(() => shelf.books.counts().followed).toBe(2)
    expect(shelf.books.peek(own)).toBeNull()
    await makeQuote(app, tenant, { rate: 1_900 })
    const late = readAll()
    await delay(20)
    resolve()
    for (const { quotes } of [...(await early), ...(await late)]) expect(quotes.size).toBe(3)
    expect((await late).every(({ versions }) => versions.facts === 3)).toBe(true)
    expect(shelf.books.counts()).toMatchObject({ opened: 1 })
    expect(shelf.books.counts().followed).toBeLessThanOrEqual(3)
  })

  test('of a current book send nothing to the database', async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    const shelf = shelfOn(app)
    const first = await shelf.books.read(own)
    const before = shelf.stand.transactions
    for (let read = 0; read < 50; read++) expect(await shelf.books.read(own)).toBe(first)
    expect(shelf.books.peek(own)).toBe(first)
    expect(shelf.stand.transactions).toBe(before)
  })
})

describe('the memory of all books together', () => {
  const tenantOf = async (quotes: number): Promise<TenantId> => {
    const tenant = await makeTenant(app)
    for (let quote = 0; quote < quotes; quote++) await makeQuote(app, tenant)
    return tenantId(tenant.id)
  }

  test('is limited: the least recently read book is closed first', async () => {
    const [a, b, c] = [await tenantOf(2), await tenantOf(2), await tenantOf(2)]
    const shelf = shelfOn(app, { bytesMax: 500 })
    await shelf.books.read(a)
    await shelf.books.read(b)
    expect(shelf.books.peek(a)).not.toBeNull()
    await shelf.books.read(c)
    expect([a, b, c].map((own) => shelf.books.peek(own) !== null)).toEqual([true, false, true])
    expect(shelf.books.counts()).toEqual({
      books: 2,
      quotes: 4,
      bytes: 400,
      bytesMax: 500,
      opened: 3,
      followed: 3,
      closed: 1,
    })
    expect((await rowsOf(shelf, b)).size).toBe(2)
  })

  test('a book that is closed while its changes are read still answers the reader who waits for them', async () => {
    const tenant = await makeTenant(app)
    for (let quote = 0; quote < 2; quote++) await makeQuote(app, tenant)
    const [a, b, c] = [tenantId(tenant.id), await tenantOf(2), await tenantOf(2)]
    const shelf = shelfOn(app, { bytesMax: 500 })
    await shelf.books.read(a)
    await makeQuote(app, tenant)
    const { promise, resolve } = Promise.withResolvers<void>()
    shelf.stand.gate = promise
    const before = shelf.stand.transactions
    const reading = rowsOf(shelf, a)
    await expect.poll(() => shelf.stand.transactions).toBe(before + 1)
    shelf.stand.gate = Promise.resolve()
    await shelf.books.read(b)
    await shelf.books.read(c)
    expect(shelf.books.counts().closed).toBe(1)
    resolve()
    expect((await reading).size).toBe(3)
    expect([a, b, c].map((own) => shelf.books.peek(own) !== null)).toEqual([false, true, true])
  })

  test('a brokerage that exceeds the limit alone gets an error with the number of quotes that fit, and is tried again after a minute', async () => {
    const [own, small] = [await tenantOf(4), await tenantOf(1)]
    const shelf = shelfOn(app, { bytesMax: 300 })
    await shelf.books.read(small)
    const refusal = {
      code: 'unavailable',
      status: 503,
      message: expect.stringMatching(/about 3 fit.*MEMORY_MEGABYTES/),
    }
    await expect(shelf.books.read(own)).rejects.toMatchObject(refusal)
    const { transactions } = shelf.stand
    shelf.stand.at = 59_999
    await expect(shelf.books.read(own)).rejects.toMatchObject(refusal)
    expect(shelf.stand.transactions).toBe(transactions)
    shelf.stand.at = 60_000
    await expect(shelf.books.read(own)).rejects.toMatchObject(refusal)
    expect(shelf.stand.transactions).toBeGreaterThan(transactions)
    expect(shelf.books.counts().bytes).toBeLessThanOrEqual(100)
    expect((await rowsOf(shelf, small)).size).toBe(1)
  })

  test('a book that grows beyond the limit is closed', async () => {
    const tenant = await makeTenant(app)
    const own = tenantId(tenant.id)
    await makeQuote(app, tenant)
    const shelf = shelfOn(app, { bytesMax: 150 })
    await shelf.books.read(own)
    await makeQuote(app, tenant)
    expect((await rowsOf(shelf, own)).size).toBe(2)
    await expect(shelf.books.read(own)).rejects.toMatchObject({ code: 'unavailable' })
    expect(shelf.books.counts()).toMatchObject({ books: 0, bytes: 0 })
  })
})

test('no book is opened after the service has stopped', async () => {
  const tenant = await makeTenant(app)
  await makeQuote(app, tenant)
  const shelf = shelfOn(app)
  const { promise, resolve } = Promise.withResolvers<void>()
  shelf.stand.gate = promise
  const read = shelf.books.read(tenantId(tenant.id))
  await expect.poll(() => shelf.stand.transactions).toBe(1)
  const drained = shelf.books.drain()
  resolve()
  await expect(read).rejects.toThrow(DatabaseUnavailable)
  await drained
  await expect(shelf.books.read(tenantId(tenant.id))).rejects.toThrow(DatabaseUnavailable)
})

test('a deleted brokerage has an empty book', async () => {
  const tenant = await makeTenant(app)
  const own = tenantId(tenant.id)
  await makeQuote(app, tenant)
  const shelf = shelfOn(app)
  expect((await rowsOf(shelf, own)).size).toBe(1)
  const owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
  await owner.query(`begin; select enter_tenant('${own}', 0, 0, 0); delete from quotes where tenant_id = ${own};
    delete from quote_versions where tenant_id = ${own}; delete from tenant_facts where tenant_id = ${own};
    update installation set erasures = erasures + 1; commit`)
  await owner.end()
  await expect.poll(async () => (await rowsOf(shelf, own)).size).toBe(0)
})
