/** @module-tag long */
import pg from 'pg'
import { describe, expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { testApp } from '#testing/test-app.ts'
import { hostileInput, undocumentedMember } from './hostile-input.ts'
import { type OpenApiDocument, operationsOf } from './hostile-oracle.ts'
import { hostileRequest } from './hostile-requests.ts'

const cluster: DatabaseCluster = inject('databaseCluster')

describe('hostile requests to every operation, in process and over sockets', () => {
  // Five batches. In the fifth, requests may succeed.
  const requests = 1_250

  test('cause no 5xx, no undocumented response, no change by a refused request, and no effect on another client', async () => {
    const { faults, sent, sentOverSockets, succeeded, statuses, healthyCalls } = await hostileInput(cluster, {
      requests,
      seed: 20_261_121,
    })
    expect(faults).toEqual([])
    expect(sent).toBe(requests)
    expect(sentOverSockets).toBeGreaterThan(requests / 20)
    // The requests get past authentication and validation: most operations succeed at least once.
    expect(succeeded.size).toBeGreaterThan(30)
    for (const status of [200, 201, 400, 401, 403, 404, 405, 415, 422])
      expect(statuses[status]).toBeGreaterThan(0)
    expect(healthyCalls).toBeGreaterThan(10)
  })

  test('are the same for the same seed, and differ for another seed', async () => {
    const app = await testApp()
    const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument
    await app.close()
    const operations = operationsOf(document)
    const drawn = (seed: number) =>
      Array.from({ length: 50 }, (_, index) => hostileRequest(operations, seed, index, true))
    expect(drawn(7)).toEqual(drawn(7))
    expect(drawn(7)).not.toEqual(drawn(8))
  })
})

describe('a planted fault is found:', () => {
  const soon = { requests: 4_000, seed: 7, faultsMax: 1 }

  test('code that throws for a NUL byte', { tags: 'long' }, async () => {
    const { faults } = await hostileInput(cluster, soon, (server) => {
      server.addHook('preHandler', async ({ body }) => {
        if (Buffer.isBuffer(body) && body.includes(0)) throw new Error('NUL')
      })
    })
    expect(faults.join('\n')).toContain('returned 500')
    expect(faults.join('\n')).toMatch(/printf '.*\\000/)
  })

  test('a response with an undocumented member', { tags: 'long' }, async () => {
    const { faults } = await hostileInput(cluster, soon, undocumentedMember)
    expect(faults.join('\n')).toContain('the body of me is not as documented')
  })

  test('a refused request that changes data', { tags: 'long' }, async () => {
    const { faults } = await hostileInput(cluster, soon, (server, app) => {
      server.addHook('onResponse', async (_request, { statusCode }) => {
        if (statusCode !== 422) return
        const owner = new pg.Client(app().testDatabase.owner)
        await owner.connect()
        await owner.query("set app.tenant_id = '700000001'; update tenants set name = name || '!'")
        await owner.end()
      })
    })
    expect(faults.join('\n')).toMatch(/changed .*tenants.*, although all its requests had to be refused/)
  })
})
