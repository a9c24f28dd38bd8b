/** @module-tag long */
import { expect, inject, test } from 'vitest'
import type { DatabaseCluster } from '#testing/database-cluster.ts'
import { prove } from './prove.ts'
import { rememberedAnswers } from './remembered-answers.ts'
import { shortly } from './shortly.ts'

const cluster: DatabaseCluster = inject('databaseCluster')

test(`${rememberedAnswers.claim}; fails with the planted fault: ${rememberedAnswers.fault}`, async () => {
  const { seed, faults, verdict, control } = await prove(rememberedAnswers, shortly(0.06, cluster))
  expect({ seed, faults, verdict, control }).toEqual({
    seed,
    faults: [],
    verdict: 'holds',
    control: 'caught',
  })
})
