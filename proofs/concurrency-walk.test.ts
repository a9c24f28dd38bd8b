import { expect, test } from 'vitest'
import { testDatabase } from '#testing/test-database.ts'
import { concurrencyWalk, forTheWholeConnection, opening } from './concurrency-walk.ts'

test('fifty brokerages over two connections each get their own, whoever hangs up and whatever is cut', async () => {
  const result = await concurrencyWalk({ requests: 600, seed: 20_261_121, makeDatabase: testDatabase })
  expect(result.faults).toEqual([])
  expect(result.requests).toBe(600)
  expect(result.answered).toBeGreaterThan(300)
  expect(result.aborted).toBeGreaterThan(5)
  expect(result.resets).toBe(2)
}, 120_000)

test('a setting for the whole session in the place of the transaction’s is found', async () => {
  let planted = 0
  const { faults } = await concurrencyWalk({
    requests: 300,
    seed: 1,
    makeDatabase: testDatabase,
    rewrite(statement) {
      if (!opening.test(statement)) return statement
      planted += 1
      return forTheWholeConnection(statement)
    },
  })
  expect(planted).toBeGreaterThan(100)
  expect(faults.some((fault) => fault.startsWith('outside all tenants'))).toBe(true)
}, 60_000)

test('a connection that keeps the tenant of its first user is found', async () => {
  const opened = new WeakSet<object>()
  const { faults } = await concurrencyWalk({
    requests: 300,
    seed: 2,
    makeDatabase: testDatabase,
    rewrite(statement, connection) {
      if (!opening.test(statement)) return statement
      if (opened.has(connection)) return 'begin'
      opened.add(connection)
      return forTheWholeConnection(statement)
    },
  })
  expect(faults.some((fault) => /was answered (401|404)/.test(fault))).toBe(true)
}, 60_000)
