import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { problems } from '#contract/errors.ts'
import { call } from '#testing/make.ts'
import { head, sendRaw } from '#testing/raw-http.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

describe('an address beside the files of the reference page', () => {
  test.each([
    '/docs/static/../../../package.json',
    '/docs/static/%2e%2e/%2e%2e/package.json',
    '/docs/static/..%2f..%2fpackage.json',
    '/docs/static/.git/config',
    '/docs/static/none.js',
  ])('is not there: %s', async (path) => {
    const [answer] = await sendRaw(
      app,
      head(`GET ${path} HTTP/1.1`, [
        ['Host', 'x'],
        ['Connection', 'close'],
      ]),
    )
    if (answer === undefined) throw new Error('no answer')
    expect([answer.status, answer.body.type]).toEqual([404, '/problems/route-not-found'])
  })
})

describe('problems', () => {
  test('each code that an answer names has a page that says what to do', async () => {
    const list = await call(app, 'GET', '/problems')
    expect(list.body.problems.map((problem: { code: string }) => problem.code).sort()).toEqual(
      Object.keys(problems).sort(),
    )
    const page = await call(app, 'GET', '/problems/signature-mismatch')
    expect(page.body).toMatchObject({ code: 'signature-mismatch', status: 401 })
    expect((await call(app, 'GET', '/problems/no-such')).body.type).toBe('/problems/not-found')
    expect((await call(app, 'GET', '/problems/toString')).body.type).toBe('/problems/not-found')
  })
})
