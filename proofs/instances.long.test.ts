import { setTimeout as delay } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { makeIntegration } from '#testing/make.ts'
import { mostWithinASecond, readerOf, sendFor } from './one-limit.ts'
import { proofDatabase } from './proof-database.ts'
import { serviceProcesses } from './service-process.ts'
import { asApp } from './signed-writers.ts'

const cluster: DatabaseCluster = inject('databaseCluster')

test('a planted fault, in which each instance counts for itself, is found', async () => {
  const own = await proofDatabase(cluster)
  const faulty = serviceProcesses(own)
  try {
    const fault = 'each instance counts for itself'
    const [one, other] = await Promise.all([faulty.start({ fault }), faulty.start({ fault })])
    const ours = await makeIntegration(asApp(one.url))
    await delay(1_100)
    const log = await sendFor(
      [one, one, other, other].map((way) => readerOf(way, ours)),
      { ms: 1_500 },
    )
    expect(mostWithinASecond(log)).toBeGreaterThan(10)
  } finally {
    await faulty.remove()
    await own.drop()
  }
}, 60_000)
