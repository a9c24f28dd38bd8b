import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { importColumnsMax } from '#contract/limits.ts'
import { type MadeTenant, makeTenant } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let ours: MadeTenant
let theirs: MadeTenant
const agent = new Agent({ keepAlive: true })
beforeAll(async () => {
  app = await sharedApp()
  ours = await makeTenant(app)
  theirs = await makeTenant(app)
})
afterAll(async () => {
  agent.destroy()
})

/** Sends a request over a connection that stays open, and returns its status. */
function send(path: string, token: string, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) }
    const asked = request(
      `${app.url}${path}`,
      { agent, headers, method: body ? 'POST' : 'GET' },
      (answer) => {
        answer.resume()
        answer.once('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    asked.once('error', reject)
    asked.end(body)
  })
}

/** 100 of these, wrong in every field, are slow to read, and are refused before the database is asked. */
const wrongQuote = {
  origin: '',
  destination: '',
  equipment: '!'.repeat(1_500),
  quoted_rate: 'x',
  pickup_date: 'x',
}
const expensive = JSON.stringify({ customer_name: '', lanes: Array(100).fill(wrongQuote) })

test('of sixty requests of a brokerage that arrive together, one is read in each turn, and another brokerage is answered', async () => {
  const flood = () => Array.from({ length: 60 }, () => send('/api/quote-requests', ours.owner, expensive))
  // Opens the connections.
  await Promise.all(flood())
  let readThisTurn = 0
  const perTurn: number[] = []
  let isOver = false
  const countTurn = () => {
    perTurn.push(readThisTurn)
    readThisTurn = 0
    if (!isOver) setImmediate(countTurn)
  }
  const { parse } = JSON
  const reading = vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    if (text.length === expensive.length) readThisTurn++
    return parse(text, reviver)
  })
  setImmediate(countTurn)
  const answers = flood()
  expect(await send('/api/me', theirs.owner)).toBe(200)
  const statuses = await Promise.all(answers)
  isOver = true
  perTurn.push(readThisTurn)
  reading.mockRestore()
  expect(new Set(statuses)).toEqual(new Set([422]))
  expect(perTurn.reduce((sum, count) => sum + count, 0)).toBe(statuses.length)
  // An immediate of this test counts the end of a turn. On a busy machine, it once counted two turns as one.
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(2)
})

test('a long body is read in one turn, and answered in another one', async () => {
  const headers = Array.from({ length: importColumnsMax }, (_, at) => `${'n'.repeat(400)}${at}`)
  const body = JSON.stringify({ headers })
  let turn = 0
  let isOver = false
  const countTurn = () => {
    turn++
    if (!isOver) setImmediate(countTurn)
  }
  const readIn: number[] = []
  const answeredIn: number[] = []
  const { parse, stringify } = JSON
  const reading = vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    if (text.length === body.length) readIn.push(turn)
    return parse(text, reviver)
  })
  const answering = vi.spyOn(JSON, 'stringify').mockImplementation((value, ...more) => {
    if (value !== null && typeof value === 'object' && 'ignored_columns' in value) answeredIn.push(turn)
    return stringify(value, ...(more as []))
  })
  setImmediate(countTurn)
  for (let nth = 0; nth < 8; nth++) expect(await send('/api/import-columns', ours.owner, body)).toBe(200)
  isOver = true
  reading.mockRestore()
  answering.mockRestore()
  expect([readIn.length, answeredIn.length]).toEqual([8, 8])
  expect(answeredIn.filter((one, nth) => one === readIn[nth])).toEqual([])
})
