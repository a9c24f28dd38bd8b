import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { pagePaths } from '#contract/pages.ts'
import { makeTenant } from '#testing/make.ts'
import { head, type RawAnswer, sendRaw } from '#testing/raw-http.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

/** Unusual URLs and methods for the dashboard's pages and files and every read of the API. */

let app: TestApp
let token: string

const asset = readdirSync(fileURLToPath(new URL('../../../dashboard/dist/assets/', import.meta.url))).find(
  (name) => name.endsWith('.js'),
)
const page = (path: string) => path.replace('{lane_ref}', '48211093754-1-1')
const pages = Object.values(pagePaths).map(page)
/** `npm test` takes one address of six, because the same code routes all. Long tests take all. */
const sixth = (_path: string, nth: number) => nth % 6 === 0

beforeAll(async () => {
  app = await sharedApp()
  token = (await makeTenant(app)).owner
})

/** Requests an address as a browser (HTML) or as a program. */
async function ask(method: string, target: string, accept = '*/*'): Promise<RawAnswer> {
  const headers = [
    ['Host', 'x'],
    ['Accept', accept],
    ['Authorization', `Bearer ${token}`],
    ['Connection', 'close'],
  ] as const
  const [answer] = await sendRaw(app, head(`${method} ${target} HTTP/1.1`, headers))
  if (answer === undefined) throw new Error(`No answer to ${method} ${target}.`)
  return answer
}

/** Variations of an address that must not be equivalent to it. */
function oddForms(path: string): string[] {
  const last = path.split('/').at(-1) ?? ''
  return [
    `${path}/`,
    `/${path}`,
    `${path};x=1`,
    `${path}%2f`,
    `${path}%00`,
    `/%2e%2e${path}`,
    `/x/%2e%2e${path}`,
    `/x/..${path}`,
    `/.${path}`,
    `${path}/.`,
    `${path}/..;/`,
    `${path}.json`,
    `${path}#a`,
    `http://x/y/..${path}`,
    path.replace(last, last.toUpperCase()),
    path.replace(last, `%${last.charCodeAt(0).toString(16)}${last.slice(1)}`),
    path.replaceAll('/', '\\'),
    path.replaceAll('/', '//'),
  ].filter((form) => form !== path)
}

/** True for a URL that names a record with an odd name, such as the quote "." or "export%00". */
const namesRecord = (form: string) =>
  [...allEndpoints.map(({ path }) => path), ...Object.values(pagePaths)].some((path) => {
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    return path.includes('{') && pattern.test(form)
  })

describe('an address in another form is not found', () => {
  const plainPages = pages.filter((path) => path !== '/' && !path.includes('/quotes/'))
  test.each(plainPages.filter(sixth))('the page %s', findsNoPage)
  test.each(plainPages)('the page %s, of all', { tags: 'long' }, findsNoPage)

  async function findsNoPage(path: string) {
    for (const form of oddForms(path).filter((odd) => !namesRecord(odd))) {
      const answer = await ask('GET', form)
      expect([400, 404], `${form}: ${answer.status}`).toContain(answer.status)
      expect(answer.headers['content-type'], form).toContain('application/problem+json')
      // A browser gets a not-found page with the same status.
      expect([400, 404], form).toContain((await ask('GET', form, 'text/html')).status)
    }
  }

  test('a file of the dashboard', async () => {
    expect((await ask('GET', `/assets/${asset}`)).status).toBe(200)
    for (const form of [
      ...oddForms(`/assets/${asset}`),
      `/ASSETS/${asset}`,
      `/assets/./${asset}`,
      `/assets/x/../../assets/${asset}`,
      '/assets',
      '/assets/',
      '/assets/../index.html',
      '/assets/%2e%2e/index.html',
      '/assets/..%2findex.html',
      '/assets/..%5cindex.html',
      '/assets/%2e%2e/%2e%2e/%2e%2e/package.json',
      '/assets/.hidden',
    ]) {
      const answer = await ask('GET', form)
      expect([400, 404], `${form}: ${answer.status}`).toContain(answer.status)
    }
  })

  const reads = allEndpoints
    .filter(({ method, path }) => method === 'GET' && !path.includes('{'))
    .map(({ path }) => path)
  test.each(reads.filter(sixth))('%s', findsNoRead)
  test.each(reads)('%s, of all', { tags: 'long' }, findsNoRead)

  async function findsNoRead(path: string) {
    const seen = new Map<string, number>()
    for (const form of [...oddForms(path), path.replace('/api', '/API')]) {
      seen.set(form, (await ask('GET', form)).status)
    }
    const right = (form: string) => (namesRecord(form) ? [400, 404, 405, 422] : [400, 404])
    expect([...seen].filter(([form, status]) => !right(form).includes(status))).toEqual([])
  }

  test('a percent sign without a valid code is a bad request', async () => {
    for (const path of ['/%', '/quotes/%zz', '/api/lanes/%e0%a4%a', '/assets/%']) {
      expect((await ask('GET', path)).status, path).toBe(400)
    }
  })
})

describe('an unreadable URL is rejected without internal details', () => {
  test.each([
    '/%',
    '/\x00',
    '/\xe9',
    'http://[',
    'http://',
    'http://x:99999/healthz',
    'https://%zz/',
    'ftp://x/',
    '*',
    '?a=b',
    'healthz',
    `/${'a'.repeat(9_000)}`,
    `/docs/static/${'a'.repeat(20_000)}`,
  ])('%j', async (target) => {
    const answer = await ask('GET', target, 'text/html')
    const code = answer.status === 414 ? 'uri-too-long' : answer.status === 431 ? 'headers-too-large' : null
    expect(answer.headers['content-type']).toContain('application/problem+json')
    expect(answer.body).toMatchObject({ status: answer.status, code: code ?? 'malformed-request' })
    expect(answer.body.type).toBe(`/problems/${answer.body.code}`)
    expect(answer.text).not.toMatch(/\.[jt]s:\d|node_modules|\n? {2,}at /)
  })

  test('an absolute URL is routed by its path', async () => {
    expect((await ask('GET', 'http://elsewhere.example/healthz')).body).toEqual({ status: 'ok' })
  })
})

describe('a page allows only reads', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])('%s', async (method) => {
    for (const path of pages) {
      const answer = await ask(method, path)
      expect(answer.status, path).toBe(405)
      expect(answer.headers.allow, path).toBe('GET, HEAD')
      // A TRACE that worked would send the credentials back.
      expect(answer.text).not.toContain(token)
    }
    expect([404, 405]).toContain((await ask(method, `/assets/${asset}`)).status)
  })

  test('CONNECT gets no tunnel, and an unknown method is rejected', async () => {
    for (const method of ['CONNECT', 'BREW', 'get', 'PROPFIND']) {
      const answers = await sendRaw(app, head(`${method} / HTTP/1.1`, [['Host', 'x']]))
      expect(
        answers.every(({ status }) => status >= 400 && status < 500),
        method,
      ).toBe(true)
    }
  })
})

describe('HEAD is GET without the body', () => {
  const changing = new Set(['date', 'request-id', 'content-security-policy', 'connection', 'keep-alive'])
  const lasting = ({ headers }: RawAnswer) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !changing.has(name)))

  test.each([
    ...pages,
    '/healthz',
    '/openapi.json',
    ...allEndpoints
      .filter(({ method, path, who }) => method === 'GET' && who.kind === 'dashboard' && !path.includes('{'))
      .map(({ path }) => path)
      // The answers of these two differ each time.
      .filter((path) => path !== '/api/backtest' && path !== '/api/rate-limit'),
  ])('%s', async (path) => {
    // The calls that were refused above are written to the call log in the background. Wait for that, so that the list
    // does not change between the two requests.
    await app.settle()
    const [read, looked] = [await ask('GET', path), await ask('HEAD', path)]
    expect(looked.status).toBe(read.status)
    expect(looked.text).toBe('')
    const { 'transfer-encoding': _, ...headers } = lasting(read)
    expect(lasting(looked)).toMatchObject(headers)
  })

  test('a file of the dashboard', async () => {
    const [read, looked] = [await ask('GET', `/assets/${asset}`), await ask('HEAD', `/assets/${asset}`)]
    expect(looked.status).toBe(200)
    expect(lasting(looked)).toEqual(lasting(read))
    expect(looked.text).toBe('')
  })
})
