import pg from 'pg'
import { describe, expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { hostileInput, undocumentedMember } from './hostile-input.ts'

const cluster: DatabaseCluster = inject('databaseCluster')

describe('a planted fault is found:', () => {
  const soon = { requests: 4_000, seed: 7, faultsMax: 1, isBusy: true }

  test('a response with an undocumented member', async () => {
    const { faults } = await hostileInput(cluster, soon, undocumentedMember)
    expect(faults.join('\n')).toContain('the body of me is not as documented')
  }, 90_000)

  test('a refused request that changes data', async () => {
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
  }, 90_000)
})
