import pg from 'pg'
import { test } from 'vitest'
import { citusUrl, distributedDatabase } from '#testing/citus-database.ts'
import { upgradeUnderLoad } from './upgrade-under-load.ts'

test.skipIf(citusUrl === undefined)(
  'an upgrade with a new table, one instance after the other under load, and back, loses nothing acknowledged',
  async () => {
    const database = await distributedDatabase(citusUrl ?? '')
    const superuserUrl = new URL(citusUrl ?? '')
    superuserUrl.pathname = `/${database.name}`
    const superuser = new pg.Client({ connectionString: superuserUrl.href })
    await superuser.connect()
    try {
      await upgradeUnderLoad({
        url: (role) => (role === 'owner' ? database.ownerUrl : database.serviceUrl),
        ask: async (question, values = []) => (await superuser.query(question, [...values])).rows,
      })
    } finally {
      await superuser.end()
      await database.drop()
    }
  },
  300_000,
)
