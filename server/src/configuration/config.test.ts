import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigError, readConfig } from './config.ts'

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('THREADS, a removed setting, is rejected unless it is 1', () => {
  for (const same of ['', '1']) expect(problemsOf({ THREADS: same })).toEqual([])
  for (const more of ['2', 'auto']) {
    expect(problemsOf({ THREADS: more })).toEqual([
      expect.stringMatching(/^THREADS was removed: start one process per core .*docs\/scaling\.md/),
    ])
  }
})

describe('transactions of one brokerage', () => {
  test('are four, and with the embedded database at most one more than the machine has cores', () => {
    const embedded = readConfig({}).transactionsPerBrokerage
    expect(embedded).toBe(Math.min(4, availableParallelism() + 1))
    const own = {
      DATABASE_URL: 'postgres://localhost/lanewise',
      LANEWISE_SECRET_KEY: randomBytes(32).toString('base64'),
    }
    expect(readConfig(own).transactionsPerBrokerage).toBe(4)
    expect(readConfig({ ...own, TRANSACTIONS_PER_BROKERAGE: '7' }).transactionsPerBrokerage).toBe(7)
    expect(problemsOf({ TRANSACTIONS_PER_BROKERAGE: '0' })).toEqual([
      'TRANSACTIONS_PER_BROKERAGE must be a number from 1 to 20, of one brokerage at a time in the database; it is "0".',
    ])
  })
})

describe('metrics', () => {
  test('are off by default, and served on 127.0.0.1 if only a port is set', () => {
    expect(readConfig({}).metrics).toBeNull()
    expect(readConfig({ METRICS_HOST: '0.0.0.0' }).metrics).toBeNull()
    expect(readConfig({ METRICS_PORT: '9464' }).metrics).toEqual({ port: 9464, host: '127.0.0.1' })
    const open = readConfig({ METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' })
    expect(open.metrics).toEqual({ port: 9464, host: '0.0.0.0' })
  })

  test('cannot use the port of the service', () => {
    expect(problemsOf({ PORT: '9000', METRICS_PORT: '9000' })).toEqual([
      'METRICS_PORT must differ from PORT: metrics are for operators, not for callers.',
    ])
    expect(problemsOf({ METRICS_PORT: 'nine' })).toEqual([
      'METRICS_PORT must be a number from 0 to 65535; it is "nine".',
    ])
  })
})

describe('traces', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }

  test.each([
    [{}, false],
    [{ OTEL_SERVICE_NAME: 'quotes' }, false],
    [endpoint, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/v1/traces' }, true],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
    [{ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, false],
    [{ ...endpoint, OTEL_SDK_DISABLED: 'true' }, false],
  ])('are turned on by the variables of the OpenTelemetry standard: %o', (env, isOn) => {
    expect(readConfig(env).traces !== null).toBe(isOn)
  })

  test('keep the OpenTelemetry variables and no others', () => {
    const env = { ...endpoint, OTEL_SERVICE_NAME: 'quotes', OTEL_BSP_SCHEDULE_DELAY: '', PATH: '/bin' }
    expect(readConfig(env).traces).toEqual({ ...endpoint, OTEL_SERVICE_NAME: 'quotes' })
  })

  test.each([
    [{ ...endpoint, OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'must be a URL'],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'must be http/json'],
    [{ ...endpoint, OTEL_TRACES_SAMPLER: 'some' }, 'must be one of always_on'],
    [{ ...endpoint, OTEL_TRACES_SAMPLER_ARG: '7' }, 'must be a number from 0 to 1'],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'must be otlp or none'],
  ])('reject variables that the exporter does not support: %o', (env, why) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(why)])
  })
})

describe('events', () => {
  test('are off by default, and may be sent to no private network unless it is listed', () => {
    expect(readConfig({}).events).toBeNull()
    expect(readConfig({ EVENTS_ALLOW_PRIVATE: '10.0.0.0/8' }).events).toBeNull()
    expect(readConfig({ EVENTS: 'on' }).events).toEqual({ allowPrivate: [] })
    const named = readConfig({ EVENTS: 'on', EVENTS_ALLOW_PRIVATE: 'hooks.corp, 10.1.0.0/16,' })
    expect(named.events).toEqual({ allowPrivate: ['hooks.corp', '10.1.0.0/16'] })
  })

  test.each([
    [{ EVENTS: 'true' }, 'EVENTS must be one of on, off; it is "true".'],
    [{ EVENTS_ALLOW_PRIVATE: 'https://hooks.corp' }, '"https://hooks.corp" is none of them.'],
    [{ EVENTS_ALLOW_PRIVATE: '10.0.0.0/64' }, '"10.0.0.0/64" is none of them.'],
  ])('reject invalid values: %o', (env, why) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(why)])
  })
})

describe('mail', () => {
  test('is off by default, and private hosts of brokerages are those of events', () => {
    expect(readConfig({}).mail).toEqual({
      operators: null,
      byBrokerage: false,
      allowPrivate: [],
      publicUrl: null,
    })
    const own = readConfig({ BROKERAGE_SMTP: 'on', EVENTS_ALLOW_PRIVATE: 'mail.corp' }).mail
    expect(own).toMatchObject({ byBrokerage: true, allowPrivate: ['mail.corp'] })
    expect(readConfig({ PUBLIC_URL: 'https://rates.example.com/' }).mail.publicUrl).toBe(
      'https://rates.example.com',
    )
  })

  test('goes to the server of SMTP_URL, which has its usual ports', () => {
    const operators = (SMTP_URL: string) =>
      readConfig({ SMTP_URL, MAIL_FROM: 'rates@example.com' }).mail.operators
    const from = 'rates@example.com'
    expect(operators('smtps://ana%40example.com:p%2Fw@mail.example.com')).toEqual({
      host: 'mail.example.com',
      port: 465,
      isTls: true,
      user: 'ana@example.com',
      password: 'p/w',
      from,
    })
    expect(operators('smtp://mail.corp')).toMatchObject({
      host: 'mail.corp',
      port: 587,
      isTls: false,
      user: null,
    })
    expect(operators('smtp://[::1]:2525')).toMatchObject({ host: '::1', port: 2_525 })
    expect(operators('smtp://a:100%@mail.corp')).toMatchObject({ password: '100%' })
  })

  test.each([
    [{ SMTP_URL: 'smtp://mail.corp' }, 'Set SMTP_URL and MAIL_FROM together'],
    [{ MAIL_FROM: 'rates@example.com' }, 'Set SMTP_URL and MAIL_FROM together'],
    [{ SMTP_URL: 'http://u:secret@mail.corp', MAIL_FROM: 'rates@example.com' }, 'SMTP_URL must be a URL'],
    [{ SMTP_URL: 'smtp://mail.corp', MAIL_FROM: 'a@example.com,b@example.com' }, 'MAIL_FROM must be one'],
    [{ COMPANY_SIGN_IN: 'yes' }, 'COMPANY_SIGN_IN must be one of on, off'],
    [
      { NAME_SERVERS: '10.0.0.2,dns.example.com' },
      'NAME_SERVERS must be a comma-separated list of addresses',
    ],
    [{ BROKERAGE_SMTP: 'yes' }, 'BROKERAGE_SMTP must be one of on, off'],
    [{ PUBLIC_URL: 'lanewise.example.com' }, 'PUBLIC_URL must be a URL'],
  ])('rejects invalid values, and repeats no password: %o', (env, why) => {
    const problems = problemsOf(env as unknown as Record<string, string>)
    expect(problems).toEqual([expect.stringContaining(why)])
    expect(problems.join()).not.toContain('secret@')
  })
})

describe('a setting that is accepted, but probably a mistake', () => {
  const warningsOf = (env: Record<string, string>) => readConfig(env).warnings

  test.each([
    ['METRICS_PROT', 'METRICS_PORT'],
    ['TRUST_PROXIES', 'TRUST_PROXY'],
    ['LANEWISE_SECRET_KEYFILE', 'LANEWISE_SECRET_KEY_FILE'],
    ['DATABASEURL', 'DATABASE_URL'],
    ['ALLOW_SIGNUP', 'ALLOW_SIGN_UP'],
  ])('%s is named with the variable that is meant', (name, meant) => {
    expect(warningsOf({ [name]: '1' })).toEqual([`${name} is unknown: is ${meant} meant?`])
  })

  test.each([
    'PATH',
    'HOSTS',
    'npm_config_loglevel',
    'LANEWISE_IMAGE',
    'NODE_OPTIONS',
    'KUBERNETES_SERVICE_PORT',
  ])('%s is a variable of another program', (name) => {
    expect(warningsOf({ [name]: '1' })).toEqual([])
  })

  test.each([
    ['0.0.0.0/0', true],
    ['0.0.0.0/1', true],
    ['::/0', true],
    ['10.0.0.0/8', false],
    ['fc00::/7', false],
    ['loopback', false],
    ['203.0.113.9', false],
  ])('TRUST_PROXY=%s includes strangers: %s', (network, isWide) => {
    const warnings = warningsOf({ TRUST_PROXY: network })
    expect(warnings).toEqual(isWide ? [expect.stringContaining(`TRUST_PROXY trusts ${network}:`)] : [])
  })

  test('a key file that every account can read is named', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lanewise-key-'))
    const file = join(folder, 'key')
    writeFileSync(file, randomBytes(32).toString('base64'))
    chmodSync(file, 0o644)
    expect(warningsOf({ LANEWISE_SECRET_KEY_FILE: file })).toEqual([
      `Every account of this machine can read ${file}: run chmod 600 on it.`,
    ])
    chmodSync(file, 0o640)
    expect(warningsOf({ LANEWISE_SECRET_KEY_FILE: file })).toEqual([])
    rmSync(folder, { recursive: true })
  })
})

describe('the day on which tokens of former keys end', () => {
  const keyList = (many: number) =>
    Array.from({ length: many }, () => randomBytes(32).toString('base64')).join(',')

  test('is the beginning of a day in UTC', () => {
    const { formerKeyTokensUntil, warnings } = readConfig({
      FORMER_KEY_TOKENS_UNTIL: '2027-03-01',
      LANEWISE_TOKEN_KEY: keyList(2),
    })
    expect([formerKeyTokensUntil, warnings]).toEqual([Date.UTC(2027, 2, 1), []])
    expect(readConfig({}).formerKeyTokensUntil).toBeNull()
  })

  test.each(['2027-02-30', '01.03.2027', '2027-03-01T10:00Z', 'tomorrow', '2027-13-01'])(
    '%s is refused',
    (day) => {
      expect(problemsOf({ FORMER_KEY_TOKENS_UNTIL: day })).toEqual([
        `FORMER_KEY_TOKENS_UNTIL must be a day such as 2027-03-01; it is "${day}".`,
      ])
    },
  )

  test('a list without a former key is named: the day would end nothing', () => {
    const env = { FORMER_KEY_TOKENS_UNTIL: '2027-03-01', LANEWISE_SECRET_KEY: keyList(1) }
    expect(readConfig(env).warnings).toEqual([expect.stringContaining('ends no token')])
  })
})
