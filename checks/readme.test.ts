import { beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '#server/configuration/index.ts'
import { makeIntegration, makeQuote } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { codeBlocks, has, run, tableRows } from './page.ts'
import { textOf } from './repository.ts'

const readme = textOf('README.md')
const variables = tableRows('docs/configuration.md', 'Environment variables')

describe('README', () => {
  test('shows the two main commands at the top', () => {
    const top = readme.split('\n').slice(0, 12)
    expect(top.filter((line) => line.startsWith('npm start'))).toHaveLength(1)
    expect(top.filter((line) => line.startsWith('npm test'))).toHaveLength(1)
  })
})

describe('the page about the configuration', () => {
  test('lists every variable that the configuration reads, and no other', () => {
    const source = textOf('server/src/configuration/config.ts')
    const read = [...source.matchAll(/\('([A-Z][A-Z_]+)'/g)].map((match) => match[1])
    const keys = [...source.matchAll(/'(LANEWISE_\w+_KEY)'/g)].flatMap(([, name]) => [name, `${name}_FILE`])
    const known = [...read, ...keys]
    const listed = variables.map(([name]) => name)
    expect([...new Set(known)].toSorted()).toEqual(listed.toSorted())
  })

  test('lists the defaults of the configuration', () => {
    const defaults = new Map(variables.map(([name, value]) => [name, value]))
    const config = readConfig({})
    expect(defaults.get('PORT')).toBe(String(config.port))
    expect(defaults.get('HOST')).toBe(config.host)
    expect(defaults.get('DATA_DIR')).toBe(config.dataDirectory)
    expect(defaults.get('LOG_LEVEL')).toBe(config.logLevel)
    expect(defaults.get('STALE_WRITES')).toBe(config.staleWrites)
    expect(defaults.get('ALLOW_SIGN_UP')).toBe(String(config.allowSignUp))
    expect(defaults.get('SIGN_UPS_PER_HOUR')).toBe(String(config.signUpsPerHour))
    expect(defaults.get('SAMPLE_BROKERAGE')).toBe(String(config.sampleBrokerage))
  })
})

describe.skipIf(!has('curl', 'bash', 'openssl'))('the three calls of the README', () => {
  test('work as written, with the credentials and the lane_ref filled in', async () => {
    const app = await sharedApp()
    const { tenant, token, secret } = await makeIntegration(app)
    const { lane_ref, lane_id } = await makeQuote(app, tenant)
    const commands = codeBlocks('README.md', 'sh').slice(1)
    expect(commands).toHaveLength(4)
    const values = [
      ["'put the service token here'", token],
      ["'put the signing secret here'", secret],
      ["'put a lane_ref here'", lane_ref],
      ['http://127.0.0.1:8080', app.url],
    ] as const
    let here = commands.join('')
    for (const [placeholder, value] of values) {
      expect(here.split(placeholder)).toHaveLength(2)
      here = here.replace(placeholder, value)
    }
    const { code, output, complaint } = await run('bash', ['-euo', 'pipefail'], { input: here })
    expect(complaint).toBe('')
    expect(code).toBe(0)
    const [markup, insight, update] = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(markup).toMatchObject({ found: true, query: { proposed_rate: 2200 } })
    expect(insight).toMatchObject({ found: true })
    expect(update).toEqual({ status: 'ok', lane_id, updated: true })
  })
})

const quickStart = 'docs/quick-start.md'

describe.skipIf(!has('curl', 'bash'))('the quick start', () => {
  let app: TestApp

  beforeAll(async () => {
    app = await sharedApp()
  })

  async function expectToWork(times: readonly string[]): Promise<void> {
    const commands = codeBlocks(quickStart, 'sh')
    expect(commands.length).toBe(6)
    const here = commands.join('').replace('BASE=http://127.0.0.1:8080', `BASE=${app.url}`)
    // Only the URL is replaced: the commands must work as written, and repeatedly.
    for (const _ of times) {
      app.now = Date.now()
      const { code, output, complaint } = await run('bash', ['-euo', 'pipefail'], { input: here })
      expect(complaint).toBe('')
      expect(code).toBe(0)
      const [update, quote, markup, insight] = output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(update).toEqual({ status: 'ok', lane_id: quote.lane_id, updated: true })
      expect(quote).toMatchObject({ customer_rate: 2100, truck_cost: 1790, margin: 310, outcome: 'won' })
      expect(textOf(quickStart)).toContain(
        `$${quote.margin.toFixed(2)}, ${quote.margin_pct} % of the customer rate`,
      )
      expect(markup).toMatchObject({ found: true, confidence: 'low', suggested_rate: 2100 })
      expect(insight).toMatchObject({ found: true, scope: 'equipment', history: { wins: 1, losses: 0 } })
    }
  }

  test('works as written, from sign-up to the first booked margin', () => expectToWork(['once']))

  test('works twice in a row', { tags: 'long' }, () => expectToWork(['once', 'again']))
})
