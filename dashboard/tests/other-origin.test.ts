import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import { call, type MadeTenant, makeTenant } from '#testing/make.ts'
import { app, expect, openWindow, test } from '../testing/pages.ts'

/** Requests that another site can send from the browser of a signed-in user. */
let evil: Server
let evilPort: number

test.beforeAll(async () => {
  evil = createServer((request, response) => {
    const html = new URL(request.url ?? '/', 'http://x').searchParams.get('html') ?? ''
    response.setHeader('Content-Type', 'text/html')
    response.end(`<!doctype html><title>Elsewhere</title>${html}`)
  }).listen(0, '127.0.0.1')
  await once(evil, 'listening')
  evilPort = (evil.address() as AddressInfo).port
})
test.afterAll(async () => {
  evil.close()
})

/** The address of a page on another site with the given content. */
const evilPage = (host: string, html: string) =>
  `http://${host}:${evilPort}/?html=${encodeURIComponent(html)}`

async function signedIn(): Promise<{ page: Page; tenant: MadeTenant }> {
  const tenant = await makeTenant(app)
  const { page } = await openWindow({ person: tenant, refusalsExpected: true })
  return { page, tenant }
}

/** The state of the brokerage that an attack could change, as its owner sees it. */
async function stateOf(tenant: MadeTenant) {
  const [me, users, events] = [
    await call(app, 'GET', '/api/me', { token: tenant.owner }),
    await call(app, 'GET', '/api/users', { token: tenant.owner }),
    await call(app, 'GET', '/api/audit', { token: tenant.owner }),
  ]
  const done = events.body.events
    .map((event: { kind: string }) => event.kind)
    .filter((kind: string) => !/^(csrf-refused|signed-in|expired-token-used)$/.test(kind))
  return { tenant: me.body.tenant, users: users.body.users, done }
}

for (const host of ['127.0.0.1', 'localhost'])
  test.describe(`a page at another port of ${host}`, () => {
    test('that posts a form, in every encoding a form has, changes nothing', async () => {
      const { page, tenant } = await signedIn()
      const before = await stateOf(tenant)
      for (const [path, field] of [
        ['/api/users', '{"name":"Eve","email":"eve@example.com","role":"admin","x":"'],
        ['/api/auth/sign-out', '{"everywhere":true,"x":"'],
        ['/api/auth/session-token', '{"x":"'],
        ['/api/integrations/tokens', '{"name":"eve","x":"'],
      ] as const) {
        for (const encoding of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
          const answered = page.waitForResponse((response) => response.url() === `${app.url}${path}`)
          const form = `<form method="post" action="${app.url}${path}" enctype="${encoding}">
          <input name='${field}' value='"}'></form><script>document.forms[0].submit()</script>`
          await page.goto(evilPage(host, form))
          // Another port is the same site, so the browser sends the cookie. Another host name is not.
          const readsCookie = host === '127.0.0.1' && !path.startsWith('/api/integrations/')
          expect([path, (await answered).status()]).toEqual([path, readsCookie ? 403 : 401])
        }
      }
      expect(await stateOf(tenant)).toEqual(before)
    })

    test('that fetches with credentials gets no readable response, and changes nothing', async () => {
      const { page, tenant } = await signedIn()
      const before = await stateOf(tenant)
      await page.goto(evilPage(host, ''))
      const seen = await page.evaluate(async (url) => {
        const tries: RequestInit[] = [
          { method: 'POST', mode: 'no-cors', body: '{"everywhere":true}' },
          { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"everywhere":true}' },
          { method: 'POST', headers: { 'X-Lanewise-Request': '1' }, body: '{"everywhere":true}' },
          { method: 'GET' },
        ]
        const outcomes: string[] = []
        for (const init of tries) {
          const path = init.method === 'GET' ? '/api/me' : '/api/auth/sign-out'
          outcomes.push(
            await fetch(`${url}${path}`, { ...init, credentials: 'include' })
              .then(async (response) => `read ${(await response.text()).length} characters`)
              .catch(() => 'refused by the browser'),
          )
        }
        return outcomes
      }, app.url)
      // With "no-cors", browsers send only what a form could send, and the page cannot read the response.
      expect(seen).toEqual([
        'read 0 characters',
        'refused by the browser',
        'refused by the browser',
        'refused by the browser',
      ])
      expect(await stateOf(tenant)).toEqual(before)
    })
  })

test('the same call from the dashboard succeeds: the rejections above are because of the origin', async () => {
  const { page, tenant } = await signedIn()
  await page.goto('/')
  const status = await page.evaluate(async () => {
    const answer = await fetch('/api/tenant', {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json', 'X-Lanewise-Request': '1' },
      body: '{"name":"Renamed Brokers"}',
    })
    return answer.status
  })
  expect(status).toBe(200)
  expect((await stateOf(tenant)).tenant.name).toBe('Renamed Brokers')
})

test('another site cannot embed the dashboard in a frame', async () => {
  const { page } = await signedIn()
  await page.goto(evilPage('127.0.0.1', `<iframe src="${app.url}/sign-in"></iframe>`))
  const inside = page.frames().find((frame) => frame !== page.mainFrame())
  await expect.poll(() => inside?.url()).toMatch(/^chrome-error:/)
})
