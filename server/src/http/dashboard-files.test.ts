import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { pagePaths } from '#contract/pages.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
const get = (path: string, headers: Record<string, string> = {}) => fetch(`${app.url}${path}`, { headers })
const asBrowser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

beforeAll(async () => {
  app = await sharedApp()
})

describe('200', () => {
  test.each(Object.values(pagePaths))('%s answers the application', async (path) => {
    const answer = await get(path.replace('{lane_ref}', '48211093754-1-1'), asBrowser)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
    expect(await answer.text()).toContain('<div id="dashboard">')
  })

  test('a page begins with an outline of its frame and heading; a page without a frame and an unknown one do not', async () => {
    const outlined = async (path: string) =>
      (await (await get(path, asBrowser)).text()).split('id="outline"')[1]
    expect(await outlined('/settings/people')).toContain(
      '<div class="outline-heading">People and teams</div>',
    )
    expect(await outlined('/quotes/48211093754-1-1')).toContain('<div class="active">Quotes</div>')
    expect(await outlined('/quotes/48211093754-1-1')).not.toContain('outline-heading')
    for (const path of ['/sign-in', '/sign-up', '/invitation', '/no-such-page'])
      expect(await outlined(path), path).toBeUndefined()
  })

  test('addresses of earlier versions lead to the pages that took their place, with their query', async () => {
    for (const [from, to] of [
      ['/performance?view=month&period=all', '/results?view=month&period=all'],
      ['/team', '/settings/people'],
      ['/imports?import=1', '/settings/imports?import=1'],
      ['/integration?tab=log', '/settings/developers?tab=log'],
      ['/audit', '/settings/audit'],
      ['/settings?view=fuel', '/settings/fuel'],
      ['/rules?view=approvals', '/approvals'],
      ['/market?view=rates', '/settings/market'],
    ] as const) {
      const answer = await fetch(`${app.url}${from}`, { headers: asBrowser, redirect: 'manual' })
      expect([from, answer.status, answer.headers.get('Location')]).toEqual([from, 301, to])
    }
  })

  test('the page has no inline script, and only its own scripts may run', async () => {
    const answer = await get('/')
    const policy = answer.headers.get('Content-Security-Policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toMatch(/script-src 'self';/)
    expect(policy).not.toMatch(/unsafe-inline|unsafe-eval|https?:|\*/)
    expect(policy).toContain("frame-ancestors 'none'")
    const html = await answer.text()
    expect(html.match(/<script[^>]*>/g)?.every((tag) => / src="\/assets\//.test(tag))).toBe(true)
    expect(html).not.toMatch(/ on\w+="/)
  })

  test('each page has its own nonce for styles', async () => {
    const nonceOf = (text: string) => /nonce-([^']+)'/.exec(text)?.[1]
    const [one, other] = [await get('/'), await get('/')]
    const [nonce, next] = [one, other].map(({ headers }) =>
      nonceOf(headers.get('Content-Security-Policy') ?? ''),
    )
    expect(nonce).toMatch(/^[\w+/]{22}==$/)
    expect(next).not.toBe(nonce)
    expect(await one.text()).toContain(`content="${nonce}"`)
  })

  test('its files are compressed and cached forever: their names change with their content', async () => {
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(await (await get('/')).text())?.[1] ?? ''
    const answer = await get(script, { 'Accept-Encoding': 'br' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Content-Encoding')).toBe('br')
    expect(answer.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff')
  })
})

describe('404', () => {
  test('a missing file is not a page, and no file outside the folder is served', async () => {
    for (const path of [
      '/assets/none.js',
      '/assets/../index.html',
      '/assets/%2e%2e/built-from',
      '/assets/',
    ]) {
      const answer = await get(path)
      expect(answer.status, path).toBe(404)
      expect(answer.headers.get('Content-Type'), path).toContain('application/problem+json')
    }
  })

  test('an API path never answers with a page', async () => {
    const answer = await get('/api/nothing', asBrowser)
    expect(answer.status).toBe(404)
    expect(answer.headers.get('Content-Type')).toContain('application/problem+json')
  })
})

describe('405', () => {
  test('a page allows only reads', async () => {
    const answer = await fetch(`${app.url}/quotes`, { method: 'POST' })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('Allow')).toBe('GET, HEAD')
  })
})

/** The files that a browser needs before it can show the first page: the application, its styles, and the largest page. */
const firstLoadBytesMax = 300_000

test('the first load of the largest page is under 300 kB of compressed script', () => {
  const folder = fileURLToPath(new URL('../../../dashboard/dist/', import.meta.url))
  const sizeOf = new Map(
    globSync('assets/*.js', { cwd: folder }).map((path) => [
      path,
      readFileSync(`${folder}${path}.br`).length,
    ]),
  )
  expect(sizeOf.size).toBeGreaterThan(5)
  const reached = (path: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(path)) return seen
    seen.add(path)
    // Static imports, which a script waits for. The scripts of other pages are loaded on navigation.
    const text = readFileSync(`${folder}${path}`, 'utf8')
    for (const [, name] of text.matchAll(/(?:from|import)"\.\/([\w.-]+\.js)"/g))
      reached(`assets/${name}`, seen)
    return seen
  }
  const entry = /src="\/(assets\/[^"]+\.js)"/.exec(readFileSync(`${folder}index.html`, 'utf8'))?.[1] ?? ''
  const bytes = (paths: Iterable<string>) =>
    [...paths].reduce((sum, path) => sum + (sizeOf.get(path) ?? 0), 0)
  const largest = Math.max(...[...sizeOf.keys()].map((page) => bytes(reached(page, reached(entry)))))
  expect(bytes(reached(entry))).toBeGreaterThan(50_000)
  expect(largest).toBeLessThan(firstLoadBytesMax)
})
