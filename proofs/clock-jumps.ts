import { setTimeout as delay } from 'node:timers/promises'
import { appOn, type TestApp } from '#testing/app-on-database.ts'
import { cloneDatabase } from '#testing/cloned-database.ts'
import { call, type Integration, makeIntegration, makeQuote, pushUpdate } from '#testing/make.ts'
import { type Finding, firstFaults, type Proof, type ProofOptions, shareOf } from './proof.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const jumpsMs = [hourMs, -dayMs, 10_000, -hourMs, dayMs, -10_000]

/** Ages of a signature in seconds by the server's clock, and the expected status. */
const windowEdges = [
  [-301, 401],
  [-300, 200],
  [0, 200],
  [300, 200],
  [301, 401],
] as const

/** The clock moves on by this much before the jumps, so that credentials are older than the longest jump back. */
const settledMs = 3 * dayMs

/** Sends more requests than the limit allows, with a clock jump in the middle. Returns the number of admitted requests. */
async function admittedAround(app: TestApp, integration: Integration, jumpMs: number): Promise<number> {
  const path = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'
  const burst = () =>
    Promise.all(Array.from({ length: 12 }, () => call(app, 'GET', path, { token: integration.token })))
  const began = performance.now()
  const before = await burst()
  app.now += jumpMs
  const after = await burst()
  // The limit counts per second: longer bursts say nothing about it.
  if (performance.now() - began >= 1_000) return 0
  return [...before, ...after].filter(({ status }) => status === 200).length
}

async function jumpClock(
  count: number,
  { cluster, onProgress, signal }: ProofOptions,
  limiterOnWallClock = false,
): Promise<Finding> {
  const database = await cloneDatabase(cluster)
  let app: TestApp | null = null
  const wall: { now: () => number } = { now: () => performance.now() }
  const faults: string[] = []
  let done = 0
  try {
    app = await appOn(database, { monotonic: () => wall.now() })
    const on = app
    const integration = await makeIntegration(on)
    const quote = await makeQuote(on, integration.tenant)
    on.now += settledMs
    if (limiterOnWallClock) wall.now = () => on.now
    let value = 1_000
    for (; done < count && !signal.aborted; done++) {
      const jumpMs = jumpsMs[done % jumpsMs.length] ?? hourMs
      const home = on.now
      const when = `after a jump of ${jumpMs / 1000} s`
      await delay(1_050)
      const update = { lane_ref: quote.lane_ref, customer_rate: value++ }
      const signedAt = Math.floor(on.now / 1000)
      const first = await pushUpdate(on, integration, update, signedAt)
      if (first.status !== 200) faults.push(`an update before the jump returned ${first.status}`)
      on.now += jumpMs
      // The server's clock decides which signatures are too old.
      for (const [seconds, status] of windowEdges) {
        const probe = { lane_ref: quote.lane_ref, customer_rate: value++ }
        const answer = await pushUpdate(on, integration, probe, Math.floor(on.now / 1000) - seconds)
        if (answer.status !== status)
          faults.push(`${when}: a signature of ${seconds} s returned ${answer.status}`)
      }
      const ready = await call(on, 'GET', '/readyz')
      if (ready.status !== 503)
        faults.push(`${when} an instance reported ready, although its clock differs from the database`)
      on.now = home
      const again = await pushUpdate(on, integration, update, signedAt)
      if (again.status !== 200 || again.headers.get('Idempotent-Replayed') !== 'true') {
        faults.push(`${when} and back, a repeated update was treated as new (${again.status})`)
      }
      await delay(1_050)
      const admitted = await admittedAround(on, integration, jumpMs)
      if (admitted > 10) faults.push(`${admitted} requests were admitted within one second around a jump`)
      on.now = home + 10_000
      onProgress(`${done + 1} of ${count} jumps`)
    }
    return { figure: `${done} jumps of the injected clock`, faults: firstFaults(faults) }
  } finally {
    await app?.close()
    await database.drop()
  }
}

export const clockJumps: Proof = {
  name: 'clock-jumps',
  claim:
    'When the clock jumps by seconds, an hour or a day, the signature window follows, and rate limit and replays still work',
  fault: 'the rate limiter reads the wall clock',
  run: (options) => jumpClock(shareOf(24, options.share, 3), options),
  control: (options) => jumpClock(2, options, true),
}
