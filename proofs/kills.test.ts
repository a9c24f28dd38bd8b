import { expect, test } from 'vitest'
import { kills } from './kills.ts'
import { shortly } from './shortly.ts'

test('killed at random under writers, nothing acknowledged is lost', async () => {
  expect((await kills.run(shortly(0.01))).faults).toEqual([])
}, 120_000)

test('a database that acknowledges before it flushes is caught', async () => {
  expect((await kills.control(shortly(0.01))).faults).not.toEqual([])
}, 120_000)
