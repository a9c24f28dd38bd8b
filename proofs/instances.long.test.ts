import { setTimeout as delay } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { makeIntegration } from '#testing/make.ts'
import { askedFor, asking, mostWithinASecond } from './one-limit.ts'
import { proofDatabase } from './proof-database.ts'
import { serviceProcesses } from './service-process.ts'
import { asApp } from './signed-writers.ts'

const cluster: DatabaseCluster = inject('databaseCluster')

test('where each counts for itself, that is found', async () => {
  const own = await proofDatabase(cluster)
  const faulty = serviceProcesses(own)
  try {
    const fault = 'each instance counts for itself'
    const [one, other] = await Promise.all([faulty.start({ fault }), faulty.start({ fault })])
    const ours = await makeIntegration(asApp(one.url))
    await delay(1_100)
    const log = await askedFor(
      [one, one, other, other].map((way) => asking(way, ours)),
      { ms: 1_500 },
    )
    expect(mostWithinASecond(log)).toBeGreaterThan(10)
  } finally {
    await faulty.remove()
    await own.drop()
  }
}, 60_000)
