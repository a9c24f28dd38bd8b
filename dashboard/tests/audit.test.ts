import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import pg from 'pg'
import { readLoggedHeads, verifyAuditLogs } from '#server/operations/index.ts'
import type { TestApp } from '#testing/app-on-database.ts'
import { asTableOwner } from '#testing/as-table-owner.ts'
import { call, type MadeTenant, makePerson, makeServiceToken, makeTenant } from '#testing/make.ts'
import { accessibilityProblems, expect, loaded, looks, openWindow, ownApp, test } from '../testing/pages.ts'

const hostile = '<img src=x onerror="window.ran = 1"> signed in'

let app: TestApp
let tenant: MadeTenant
/** The time of the role change. */
let changedAt: Date
let sam: Awaited<ReturnType<typeof makePerson>>

const byOwner = (of: MadeTenant, method: string, path: string, body?: unknown) =>
  call(app, method, path, { token: of.owner, ...(body === undefined ? {} : { body }) })

test.beforeAll(async () => {
  app = await ownApp({})
  tenant = await makeTenant(app)
  sam = await makePerson(app, tenant, 'member')
  // A role change ends the session, so they sign in again.
  expect((await call(app, 'GET', '/api/audit', { token: sam.token })).status).toBe(403)
  await app.refusals.settle()
  changedAt = new Date(app.now)
  await byOwner(tenant, 'PATCH', `/api/users/${sam.id}`, { role: 'viewer' })
  await makeServiceToken(app, tenant.owner)
  await byOwner(tenant, 'PATCH', '/api/tenant', { floors: { margin_pct: 8 } })
  await byOwner(tenant, 'POST', '/api/users', { name: hostile, email: 'h@example.com', role: 'viewer' })
  await byOwner(tenant, 'POST', '/api/users', {
    name: 'W'.repeat(90),
    email: 'w@example.com',
    role: 'viewer',
  })
  await app.refusals.settle()
})
test.afterAll(async () => {
  await app.close()
})

/** A moment in the time zone of the brokerage, which is not that of the browser. */
const inUtc = (at: Date, more: Intl.DateTimeFormatOptions = {}) =>
  new Intl.DateTimeFormat('en-US', {
    timeZone: 'UTC',
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    ...more,
  }).format(at)
const exactly = (at: Date) => inUtc(at, { second: '2-digit', timeZoneName: 'short' })
/** The date some days from now, as YYYY-MM-DD. */
const day = (daysLater: number) => new Date(app.now + daysLater * 86_400_000).toISOString().slice(0, 10)

const rowOf = (page: Page, words: string) => page.getByRole('row').filter({ hasText: words })
const rows = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('cell') })
/** The numbers of the shown events, top to bottom. */
const eventNumbers = (page: Page) =>
  rows(page).evaluateAll((all) => all.map((row) => Number(row.querySelector('td:last-child')?.textContent)))
const query = (page: Page) => new URL(page.url()).searchParams

/** Runs SQL as a role with write access to every table of one tenant. */
async function tamper(of: MadeTenant, ...statements: string[]): Promise<void> {
  const client = new pg.Client(app.testDatabase.owner)
  await client.connect()
  try {
    await asTableOwner(client, of.id, async () => {
      for (const statement of statements) await client.query(statement)
    })
  } finally {
    await client.end()
  }
}

async function openLog(person: { email: string; password: string } = tenant, words = '', more = {}) {
  const window = await openWindow({ url: app.url, person, ...more })
  await window.page.goto(`/settings/audit${words}`)
  await window.page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor()
  return window
}

test.describe('the log', () => {
  test('shows who did what, from which address, and when in the brokerage’s time zone', {
    tag: '@long',
  }, async () => {
    const { page, troubles } = await openLog()
    const row = rowOf(page, 'changed the role of')
    await row.waitFor()
    const text = (await row.innerText()).replaceAll(/\s+/g, ' ')
    expect(text).toContain('Olive Quay changed the role of A member from member to viewer')
    const [date, year, minute] = inUtc(changedAt).split(', ')
    expect(text).toContain(`${minute} ${date}, ${year}`.replaceAll(/\s+/g, ' '))
    expect(text).toContain('127.0.0.1')
    const time = row.locator('time')
    await expect(time).toHaveAttribute('title', exactly(changedAt))
    await expect(time).toHaveAttribute('datetime', changedAt.toISOString())
    await expect(rowOf(page, 'settings')).toContainText('minimum margin % from none to 8.0%')
    expect(troubles).toEqual([])
  })

  test('is sorted newest first and labels rejected requests', async () => {
    const { page } = await openLog()
    await rows(page).first().waitFor()
    const numbers = await eventNumbers(page)
    expect(numbers.length).toBeGreaterThan(8)
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a))
    await expect(rowOf(page, 'requested an action that their role does not allow')).toContainText('Rejected')
    await expect(rowOf(page, 'created the service token')).not.toContainText('Rejected')
  })

  test('is filtered by event, person and period, and the address has the filters', async () => {
    const { page } = await openLog()
    await rowOf(page, 'created the service token').waitFor()
    await page.getByLabel('What happened').selectOption('Rejected requests: all')
    await rowOf(page, 'created the service token').waitFor({ state: 'detached' })
    await rowOf(page, 'requested an action that their role').waitFor()
    expect(query(page).get('what')).toBe('refusals')
    await page.getByLabel('What happened').selectOption('Role changed')
    await rowOf(page, 'changed the role of').waitFor()
    await rowOf(page, 'requested an action that their role').waitFor({ state: 'detached' })
    await page.reload()
    await rowOf(page, 'changed the role of').waitFor()
    await expect(rows(page)).toHaveCount(1)
    await page.getByLabel('Person').selectOption(hostile)
    await page.getByText('No events match the filters').waitFor()
    await page.getByRole('button', { name: 'Show all events' }).click()
    await rowOf(page, 'created the service token').waitFor()
    expect([...query(page).keys()].filter((key) => key !== 'period')).toEqual([])
    await page.getByLabel('Period').selectOption('Custom dates')
    await page.getByLabel('First day').fill(day(2))
    await page.getByText('No matching events on these dates').waitFor()
    await page.getByLabel('First day').fill(day(-2))
    await rowOf(page, 'created the service token').waitFor()
    await page.getByLabel('Last day').fill(day(-4))
    await page.getByText('The last day is before the first day').waitFor()
  })

  test('links an event to all events of its person, by keyboard', async () => {
    const { page } = await openLog()
    const row = rowOf(page, 'changed the role of')
    const summary = row.getByText('Details', { exact: true })
    await summary.focus()
    await page.keyboard.press('Enter')
    await row.getByText(`${exactly(changedAt)} (${changedAt.toISOString()})`).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    const held = () => page.evaluate('document.activeElement.getAttribute("aria-label")')
    expect(await held()).toBe('show only their events: A member')
    await page.keyboard.press('Enter')
    await rowOf(page, 'created the service token').waitFor({ state: 'detached' })
    expect(query(page).get('who')).toBe(String(sam.id))
    // Events by the person and events about the person.
    await rowOf(page, 'accepted the invitation').waitFor()
    await rowOf(page, 'changed the role of').waitFor()
  })

  test('goes to the next page and back', { tag: '@long' }, async () => {
    const { page } = await openLog()
    await page.route('**/api/audit?**', (route) => {
      const url = new URL(route.request().url())
      url.searchParams.set('limit', '3')
      return route.continue({ url: url.href })
    })
    await page.goto('/settings/audit?what=people')
    await page.getByText('Page 1: 3 events').waitFor()
    const first = await eventNumbers(page)
    expect(first).toHaveLength(3)
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('Page 2:').waitFor()
    await expect.poll(async () => Math.max(...(await eventNumbers(page)))).toBeLessThan(Math.min(...first))
    await page.getByRole('button', { name: 'Previous page' }).click()
    await page.getByText('Page 1:').waitFor()
    await expect.poll(() => eventNumbers(page)).toEqual(first)
  })

  test('is exported as CSV with the same filters', { tag: '@long' }, async () => {
    const { page } = await openLog(tenant, '?what=role-changed')
    await rowOf(page, 'changed the role of').waitFor()
    const saved = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export CSV' }).click()
    const lines = (await readFile(await (await saved).path(), 'utf8')).trim().split('\r\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain(`${changedAt.toISOString()},role-changed,Olive Quay,1,A member`)
  })
})

test.describe('access to the log', () => {
  for (const role of ['viewer', 'member'] as const)
    test(`a ${role} has no link to it, and its URL explains why`, { tag: '@long' }, async () => {
      const house = await makeTenant(app)
      const person = await makePerson(app, house, role)
      const { page, troubles } = await openWindow({ url: app.url, person })
      const asked: string[] = []
      page.on('request', (request) => asked.push(new URL(request.url()).pathname))
      await page.goto('/settings/people')
      await loaded(page)
      await page.getByRole('navigation', { name: 'Settings' }).waitFor()
      await expect(page.getByRole('link', { name: 'Audit log' })).toHaveCount(0)
      await page.goto('/settings/audit')
      await page.getByText('Only admins and owners can read the audit log.').waitFor()
      await page.getByText(`Your role is ${role}`).waitFor()
      await page.waitForLoadState('networkidle')
      // Their visit adds no rejection to the log, because the page sends no request.
      expect(asked).not.toContain('/api/audit')
      expect(await accessibilityProblems(page)).toEqual([])
      expect(troubles).toEqual([])
    })

  test('an admin sees it in the menu', async () => {
    const admin = await makePerson(app, await makeTenant(app), 'admin')
    const { page } = await openWindow({ url: app.url, person: admin })
    await page.goto('/settings/people')
    await page.getByRole('link', { name: 'Audit log' }).click()
    await rowOf(page, 'accepted the invitation').waitFor()
  })
})

test.describe('verification', () => {
  test('the line to note down is one that the verifier reads, and it detects a truncated log with recomputed hashes', {
    tag: '@long',
  }, async () => {
    const house = await makeTenant(app)
    for (let made = 0; made < 3; made++) await makeServiceToken(app, house.owner)
    const { page } = await openLog(house)
    await page.getByText('npm run verify-audit', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Copy the line' }).click()
    const folder = mkdtempSync(join(tmpdir(), 'lanewise-noted-'))
    try {
      const noted = join(folder, 'noted-lines.txt')
      writeFileSync(noted, `noted on paper\n${await page.evaluate('navigator.clipboard.readText()')}\n`)
      const verified = async (file?: string) => {
        const heads = file === undefined ? new Map() : await readLoggedHeads(file)
        const { serviceUrl: databaseUrl, ownerUrl: migrationDatabaseUrl } = app.testDatabase
        const config = { databaseUrl, migrationDatabaseUrl, dataDirectory: '/nowhere', deadlineFactor: 30 }
        const [log] = await verifyAuditLogs({ config, remark: () => {} }, { named: String(house.id), heads })
        return log?.line.split(': ')[1]?.split(';')[0]
      }
      expect(await verified(noted)).toBe('5 rows, unbroken')
      await tamper(
        house,
        'delete from audit_log where entry_number >= 4',
        `update tenant_counters set last_number = 3 where counter = 'audit'`,
      )
      expect(await verified()).toBe('3 rows, unbroken')
      expect(await verified(noted)).toBe('row 4 is missing, and all up to 5')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

test.describe('user-supplied text', () => {
  test('runs no script and is shown unchanged, even after a row was edited in the database', {
    tag: '@long',
  }, async () => {
    const house = await makeTenant(app)
    await byOwner(house, 'POST', '/api/users', { name: hostile, email: 'x@example.com', role: 'viewer' })
    await byOwner(house, 'PATCH', '/api/tenant', { floors: { margin_pct: 9 } })
    await byOwner(house, 'PATCH', '/api/tenant', { name: hostile })
    await makeServiceToken(app, house.owner)
    await tamper(
      house,
      `update audit_log set about = '{"before":{"toString":1},"after":{"toString":{"a":1},"__proto__":2}}' where entry_number = 3`,
      `update audit_log set kind = '<script>window.ran = 1</script>', about = 'not JSON' where entry_number = 5`,
    )
    const { page, troubles } = await openLog(house, '', { width: 390 })
    await page.getByText(hostile, { exact: true }).first().waitFor()
    await page.getByText('<script>window.ran = 1</script>', { exact: true }).first().waitFor()
    for (const summary of await page.getByText('Details', { exact: true }).all()) await summary.click()
    await page.getByText('{"text":"not JSON"}').waitFor()
    expect(await page.evaluate('typeof globalThis.ran')).toBe('undefined')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(troubles).toEqual([])
  })
})

test.describe('a failure', () => {
  test('is shown in the place of the log, with what to do', { tag: '@long' }, async () => {
    const { page } = await openWindow({ url: app.url, person: tenant, refusalsExpected: true })
    let isDown = true
    await page.route('**/api/audit*', (route) => (isDown ? route.abort() : route.continue()))
    await page.goto('/settings/audit')
    await page.getByText('The audit log could not be loaded').waitFor()
    await expect(page.getByRole('button', { name: 'Export CSV' })).toBeDisabled()
    isDown = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await rowOf(page, 'created the service token').waitFor()
  })

  test('an invalid cursor is reported', { tag: '@long' }, async () => {
    const { page } = await openWindow({ url: app.url, person: tenant, refusalsExpected: true })
    await page.goto('/settings/audit?cursor=nonsense')
    await page
      .getByRole('alert')
      .getByText(/cursor must be/)
      .waitFor()
  })

  test('the layout does not shift when a slow answer arrives', async () => {
    const { page } = await openWindow({ url: app.url, person: tenant, alone: true })
    await page.addInitScript(`
      globalThis.moved = 0
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) globalThis.moved += entry.value
      }).observe({ type: 'layout-shift', buffered: true })`)
    await page.route('**/api/audit*', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 400))
      await route.continue()
    })
    await page.goto('/settings/audit')
    await page.getByRole('status', { name: 'Loading the audit log' }).waitFor()
    await rowOf(page, 'created the service token').waitFor()
    await page.waitForLoadState('networkidle')
    expect(Number(await page.evaluate('globalThis.moved'))).toBeLessThan(0.01)
    // The same measurement detects a page that does shift.
    await page.evaluate(`document.querySelector('h1').style.marginTop = '200px'`)
    await expect.poll(async () => Number(await page.evaluate('globalThis.moved'))).toBeGreaterThan(0.05)
  })
})

test.describe('accessibility', () => {
  for (const { colorScheme, width } of looks)
    test(`${colorScheme}, ${width} pixels wide`, { tag: '@long' }, async () => {
      const { page } = await openLog(tenant, '', { colorScheme, width })
      await rowOf(page, 'created the service token').waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      await rowOf(page, 'changed the role of').getByText('Details', { exact: true }).click()
      await rowOf(page, 'W'.repeat(90)).getByText('Details', { exact: true }).click()
      expect(await accessibilityProblems(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      await page.goto('/settings/audit?what=tenant-suspended')
      await page.getByText('No events match the filters').waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
    })
})
