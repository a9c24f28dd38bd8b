import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#server/configuration/index.ts'
import { DatabaseClient } from '#server/database/hosts/index.ts'
import { migrate } from '#server/database/schema/index.ts'
import { openDatabase } from '#server/database/session/index.ts'
import { examine } from '#server/operations/index.ts'
import { freePort } from '#testing/running-service.ts'
import { type StreamingPair, streamingPair } from './streaming-pair.ts'

let pair: StreamingPair
beforeAll(async () => {
  pair = await streamingPair()
  await migrate({ connectionString: pair.url('owner') })
})
afterAll(() => pair?.remove())

async function hostOf(connectionString: string): Promise<string> {
  const client = new DatabaseClient({ connectionString })
  client.on('error', () => {})
  try {
    await client.connect()
    return client.host
  } finally {
    await client.end()
  }
}

const wrongsOf = async (url: string) =>
  (
    await examine(
      () => readConfig({ DATABASE_URL: url, LANEWISE_SECRET_KEY: randomBytes(32).toString('base64') }),
      {
        clock: Date.now,
        tell: () => {},
      },
    )
  ).flatMap(({ about, state, says }) => (state === 'wrong' ? [`${about}: ${says}`] : []))

test('connects to the primary among several hosts, whatever the others are, and to the standby after a failover', {
  tags: 'long',
}, async () => {
  const primary = new URL(pair.urlOf('primary', 'service')).searchParams.get('host') ?? ''
  const standby = new URL(pair.urlOf('standby', 'service')).searchParams.get('host') ?? ''
  const url = (...hosts: string[]) =>
    `postgres://lanewise_service@localhost:5432/lanewise?host=${hosts.map(encodeURIComponent).join()}`
  // Accepts connections and never answers.
  const hanging = createServer(() => {}).listen(0, '127.0.0.1')
  await once(hanging, 'listening')
  const { port: hangingPort } = hanging.address() as AddressInfo
  const gone = `127.0.0.1:${await freePort()}`
  try {
    expect(await hostOf(url(standby, primary))).toBe(primary)
    expect(await hostOf(url(primary, standby))).toBe(primary)
    expect(await hostOf(`${url('127.0.0.1', standby, primary)}&port=${hangingPort},5432,5432`)).toBe(primary)
    await expect(hostOf(`${url(standby, '127.0.0.1')}&port=5432,${hangingPort}`)).rejects.toThrow(
      new RegExp(
        `^None of the hosts accepts writes: ${standby}:5432 is a standby; 127.0.0.1:${hangingPort} .*time`,
      ),
    )
  } finally {
    hanging.close()
  }
  expect(await wrongsOf(pair.urlOf('standby', 'service'))).toEqual([
    'writes: the database is a standby: it accepts no writes',
  ])
  expect(await wrongsOf(`postgres://u@${gone},${gone}/lanewise`)).toEqual([
    expect.stringMatching(
      /^database: the database of DATABASE_URL cannot be reached: None of the hosts accepts writes: 127.0.0.1:\d+ connect ECONNREFUSED/,
    ),
  ])
  await expect(
    openDatabase({ connection: { connectionString: pair.urlOf('standby', 'service') } }),
  ).rejects.toMatchObject({ cause: { code: '25006' } })

  const database = await openDatabase({ connection: { connectionString: pair.url('service') } })
  try {
    expect((await database.ping()).writesRefused).toBeNull()
    await pair.losePrimary()
    await expect(database.ping()).rejects.toThrow('The database cannot answer.')
    await pair.promoteStandby()
    expect((await database.ping()).writesRefused).toBeNull()
    expect(await hostOf(pair.url('service'))).toBe(standby)
  } finally {
    await database.close()
  }
})
