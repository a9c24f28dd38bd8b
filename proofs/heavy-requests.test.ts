import { expect, inject, test } from 'vitest'
import { heavyRequestsProof } from './heavy-requests.ts'
import { prove } from './prove.ts'
import { shortly } from './shortly.ts'

/**
 * Promise: nothing that one person sends stops the others.
 *
 * How: the heaviest requests of every endpoint and file reader (`heavy-values.ts`, `heavy-files.ts`), to a service in its own
 * process that measures itself (`turn-watch.ts`). This is a sample of at least one request of each kind to two endpoints of five,
 * chosen by the seed; `npm run prove -- --only heavy-requests` sends some 5,000.
 *
 * Faults: the control of the proof plants each of seven ways by which one request stopped the service.
 */
test(heavyRequestsProof.claim, async () => {
  const options = shortly(0.001, inject('databaseCluster'))
  const { seed, verdict, faults } = await prove(heavyRequestsProof, options, { withFault: false })
  expect({ seed, faults, verdict }).toEqual({ seed, faults: [], verdict: 'holds' })
}, 240_000)
