import pg from 'pg'
import { describe, expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { hostileInput, undocumentedMember } from './hostile-input.ts'

const cluster: DatabaseCluster = inject('databaseCluster')

describe('a fault in the service is found:', () => {
  const soon = { requests: 4_000, seed: 7, faultsMax: 1, isBusy: true }

  test('an answer with a member that is not documented', async () => {
    const { faults } = await hostileInput(cluster, soon, undocumentedMember)
    expect(faults.join('\n')).toContain('the body of me is not as documented')
  }, 90_000)

  test('a refusal that leaves something behind', async () => {
    const { faults } = await hostileInput(cluster, soon, (server, app) => {
      server.addHook('onResponse', async (_request, { statusCode }) => {
        if (statusCode !== 422) return
        const owner = new pg.Client(app().testDatabase.owner)
        await owner.connect()
        await owner.query("set app.tenant_id = '700000001'; update tenants set name = name || '!'")
        await owner.end()
      })
    })
    expect(faults.join('\n')).toMatch(/changed .*tenants.*, though nothing in it was to succeed/)
  }, 90_000)
})
