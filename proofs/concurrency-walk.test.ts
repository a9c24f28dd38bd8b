/** @module-tag long */
import { expect, test } from 'vitest'
import { testDatabase } from '#testing/test-database.ts'
import { concurrencyWalk, setForConnection, transactionStart } from './concurrency-walk.ts'

test('fifty brokerages that share two connections get only their own data, while callers hang up and connections end', async () => {
  const result = await concurrencyWalk({ requests: 600, seed: 20_261_121, makeDatabase: testDatabase })
  expect(result.faults).toEqual([])
  expect(result.requests).toBe(600)
  expect(result.answered).toBeGreaterThan(300)
  expect(result.aborted).toBeGreaterThan(5)
  expect(result.resets).toBe(2)
})

test('a planted tenant setting for the session instead of the transaction is found', {
  tags: 'long',
}, async () => {
  let planted = 0
  const { faults } = await concurrencyWalk({
    requests: 300,
    seed: 1,
    makeDatabase: testDatabase,
    rewrite(statement) {
      if (!transactionStart.test(statement)) return statement
      planted += 1
      return setForConnection(statement)
    },
  })
  expect(planted).toBeGreaterThan(100)
  expect(faults.some((fault) => fault.startsWith('outside all tenants'))).toBe(true)
})

test('a planted connection that keeps the tenant of its first transaction is found', {
  tags: 'long',
}, async () => {
  const opened = new WeakSet<object>()
  const { faults } = await concurrencyWalk({
    requests: 300,
    seed: 2,
    makeDatabase: testDatabase,
    rewrite(statement, connection) {
      if (!transactionStart.test(statement)) return statement
      if (opened.has(connection)) return 'begin'
      opened.add(connection)
      return setForConnection(statement)
    },
  })
  expect(faults.some((fault) => /returned (401|404)/.test(fault))).toBe(true)
})
