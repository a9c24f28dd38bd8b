import { beforeAll, describe, expect, test } from 'vitest'
import {
  call,
  makePerson,
  makeQuote,
  makeSecret,
  makeServiceToken,
  makeTenant,
  pushUpdate,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

const path = '/api/first-steps'
let app: TestApp

beforeAll(async () => {
  app = await sharedApp()
})

async function stepsTaken(token: string): Promise<string[]> {
  const { status, body } = await call(app, 'GET', path, { token })
  expect(status).toBe(200)
  return Object.keys(body).filter((step) => body[step])
}

/** Polls until a step is done, because the last use of a token is written after the answer. */
async function untilTaken(step: string, token: string): Promise<string[]> {
  for (;;) {
    const taken = await stepsTaken(token)
    if (taken.includes(step)) return taken
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('200', () => {
  test('each step is complete after its first action, in its own brokerage only', async () => {
    const other = await makeTenant(app)
    const tenant = await makeTenant(app)
    const { owner } = tenant
    expect(await stepsTaken(owner)).toEqual([])

    const quote = await makeQuote(app, tenant)
    expect(await stepsTaken(owner)).toEqual(['quotes'])
    await call(app, 'POST', `/api/lanes/${quote.lane_ref}/outcome`, {
      token: owner,
      body: { outcome: 'won' },
    })
    expect(await stepsTaken(owner)).toEqual(['quotes', 'outcomes'])

    const viewer = await makePerson(app, tenant, 'viewer')
    expect(await stepsTaken(owner)).toEqual(['quotes', 'outcomes', 'team'])
    expect(await stepsTaken(viewer.token)).toEqual(['quotes', 'outcomes', 'team'])

    const token = await makeServiceToken(app, owner)
    expect(await stepsTaken(owner)).toEqual(['quotes', 'outcomes', 'team', 'token'])
    const secret = await makeSecret(app, owner)
    expect(await stepsTaken(owner)).toEqual(['quotes', 'outcomes', 'team', 'token', 'secret'])

    await call(app, 'GET', '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA', {
      token,
    })
    const read = ['quotes', 'outcomes', 'team', 'token', 'secret', 'first_read']
    expect(await untilTaken('first_read', owner)).toEqual(read)

    await pushUpdate(app, { token, secret }, { lane_ref: quote.lane_ref })
    expect(await stepsTaken(owner)).toEqual(read)
    await pushUpdate(app, { token, secret }, { lane_ref: quote.lane_ref, truck_cost: 1500 })
    expect(await stepsTaken(owner)).toEqual([...read, 'booking'])

    expect(await stepsTaken(other.owner)).toEqual([])
  })

  test('a dry run does not count as an import', async () => {
    const { owner } = await makeTenant(app)
    const send = async (query: string) => {
      const response = await fetch(`${app.url}/api/imports${query}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${owner}`, 'Content-Type': 'text/csv' },
        body: 'Ship From,Ship To,Equip,Sell Rate,Quote Date,Status\n"Dallas, TX","Atlanta, GA",Van,2150,3/1/2026,Won\n',
      })
      expect(response.status).toBe(202)
      const { import_id: id } = (await response.json()) as { import_id: number }
      for (;;) {
        const { body } = await call(app, 'GET', `/api/imports/${id}`, { token: owner })
        if (body.status !== 'running') return body
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    expect((await send('?dry_run=true')).status).toBe('done')
    expect(await stepsTaken(owner)).toEqual([])
    expect((await send('')).status).toBe('done')
    expect(await stepsTaken(owner)).toEqual(['quotes', 'outcomes', 'imports'])
  })

  test('after a token is revoked or a colleague is removed, the step is open again', async () => {
    const tenant = await makeTenant(app)
    const { owner } = tenant
    const made = await call(app, 'POST', '/api/integrations/tokens', { token: owner, body: { name: 'tms' } })
    const person = await makePerson(app, tenant, 'member')
    expect(await stepsTaken(owner)).toEqual(['team', 'token'])
    await call(app, 'DELETE', `/api/integrations/tokens/${made.body.id}`, { token: owner })
    await call(app, 'DELETE', `/api/users/${person.id}`, { token: owner })
    expect(await stepsTaken(owner)).toEqual([])
  })
})

describe('401', () => {
  test('without a token, and with a service token', async () => {
    const none = await call(app, 'GET', path)
    expect([none.status, none.body.type]).toEqual([401, '/problems/token-missing'])
    const { owner } = await makeTenant(app)
    const machine = await call(app, 'GET', path, { token: await makeServiceToken(app, owner) })
    expect([machine.status, machine.body.type]).toEqual([401, '/problems/token-wrong-kind'])
  })
})
