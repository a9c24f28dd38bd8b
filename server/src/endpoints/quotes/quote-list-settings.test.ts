import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { call, type MadeTenant, makePerson, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let acme: MadeTenant

beforeAll(async () => {
  app = await sharedApp()
})
beforeEach(async () => {
  acme = await makeTenant(app)
})

const path = '/api/quote-list-settings'
const read = async (token = acme.owner) => (await call(app, 'GET', path, { token })).body
const change = (body: object, token = acme.owner) => call(app, 'PATCH', path, { token, body })
const usual = { version: 0, pending_days: 7, default_view: 'All quotes', columns: [], views: [] }
const lostOnPrice = { name: 'Lost on price', query: 'outcome=lost&reason=price', columns: ['customer'] }

describe('200', () => {
  test('the settings belong to one person, who may be a viewer, and an absent member does not change', async () => {
    const viewer = await makePerson(app, acme, 'viewer')
    expect(await read(viewer.token)).toEqual(usual)
    const saved = await change({ version: 0, views: [lostOnPrice], pending_days: 3 }, viewer.token)
    expect([saved.status, saved.body]).toEqual([
      200,
      { ...usual, version: 1, views: [lostOnPrice], pending_days: 3 },
    ])
    const { body } = await change({ version: 1, default_view: 'lost on price', columns: null }, viewer.token)
    expect(body).toEqual({ ...saved.body, version: 2, default_view: 'lost on price' })
    expect(await read(viewer.token)).toEqual(body)
    expect(await read()).toEqual(usual)
  })

  test('a filter that is not valid is stored, and the list reports it when the view is opened', async () => {
    const view = { name: 'Gone', query: 'origin=Atlantis, ZZ', columns: [] }
    expect((await change({ version: 0, views: [view] })).status).toBe(200)
    const { status, body } = await call(app, 'GET', '/api/lanes?origin=Atlantis, ZZ', { token: acme.owner })
    expect([status, body.errors[0].parameter]).toEqual([422, 'origin'])
  })
})

test('409 for a change of older settings, which changes nothing', async () => {
  await change({ version: 0, views: [lostOnPrice] })
  const { status, body } = await change({ version: 0, views: [] })
  expect([status, body.code]).toEqual([409, 'state-conflict'])
  expect((await read()).views).toEqual([lostOnPrice])
})

test('of two changes at once, one is saved', async () => {
  const sent = await Promise.all([3, 4, 5].map((days) => change({ version: 0, pending_days: days })))
  expect(sent.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  expect((await read()).version).toBe(1)
})

describe('422', () => {
  test.each([
    [
      'the name of another view, in another case',
      { views: [lostOnPrice, { ...lostOnPrice, name: 'lost ON price ' }] },
      '/views/1/name',
    ],
    ['the name of a built-in view', { views: [{ ...lostOnPrice, name: 'My Quotes' }] }, '/views/0/name'],
    ['a default view that does not exist', { default_view: 'Lost on price' }, '/default_view'],
    ['no days', { pending_days: 0 }, '/pending_days'],
    ['a view without a name', { views: [{ ...lostOnPrice, name: ' ' }] }, '/views/0/name'],
    [
      '51 views',
      { views: Array.from({ length: 51 }, (_, at) => ({ ...lostOnPrice, name: `${at}` })) },
      '/views',
    ],
  ])('%s', async (_, body, pointer) => {
    const { status, body: problem } = await change({ version: 0, ...body })
    expect([status, problem.errors[0].pointer]).toEqual([422, pointer])
    expect(await read()).toEqual(usual)
  })
})
