import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { secretKeys } from '../security/index.ts'
import { ConfigError, readConfig } from './config.ts'
import { makeSecretKey, secretKeysOf } from './secret-key-file.ts'
import { tokenKeysOf } from './token-keys.ts'

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

describe('an empty value', () => {
  test.each([
    'DATABASE_URL',
    'DATA_DIR',
    'LANEWISE_TOKEN_KEY',
    'OLD_TOKENS_UNTIL',
    'ALLOW_SIGN_UP',
    'SAMPLE_BROKERAGE',
    'TRUST_PROXY',
  ])('is refused where the default is the less safe choice: %s', (name) => {
    for (const empty of ['', ' ', ','])
      expect(problemsOf({ [name]: empty })).toEqual([expect.stringMatching(`^${name} is empty: name .+\\.$`)])
  })

  test.each([
    'HOST',
    'METRICS_HOST',
    'METRICS_PORT',
    'EVENTS',
    'STALE_WRITES',
    'LANEWISE_SECRET_KEY',
    'LOG_LEVEL',
  ])('counts as absent where the default is safe: %s', (name) => {
    expect(readConfig({ [name]: '' })).toEqual(readConfig({}))
  })
})

test('the connection of the owner alone is refused, except by a command that needs no other', () => {
  const alone = { MIGRATION_DATABASE_URL: 'postgres://lanewise_owner@host/lanewise' }
  expect(problemsOf(alone)).toEqual([
    'MIGRATION_DATABASE_URL is set without DATABASE_URL: the service would use its embedded database. Set both, or neither.',
  ])
  expect(readConfig(alone, { asOwner: true }).migrationDatabaseUrl).toBe(alone.MIGRATION_DATABASE_URL)
})

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
    for (const outside of ['0', '21', '1e1', '-1'])
      expect(problemsOf({ TRANSACTIONS_PER_BROKERAGE: outside })).toEqual([
        `TRANSACTIONS_PER_BROKERAGE must be a number from 1 to 20, the transactions of one brokerage at a time; it is "${outside}".`,
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

  test('are configured by the OpenTelemetry variables and no others', () => {
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

describe('a variable with nearly the name of a setting', () => {
  test.each([
    ['ALLOW_SIGNUP', 'ALLOW_SIGN_UP'],
    ['METRICS_PROT', 'METRICS_PORT'],
    ['TRUST_PROXIES', 'TRUST_PROXY'],
    ['ALLOW_SIGN_UPS', 'ALLOW_SIGN_UP'],
    ['allow_sign_up', 'ALLOW_SIGN_UP'],
    ['TRUSTED_PROXY', 'TRUST_PROXY'],
    ['DATBASE_URL', 'DATABASE_URL'],
    ['LANEWISE_SECRET_KEYS', 'LANEWISE_SECRET_KEY'],
    ['LANEWISE_TOKEN_KEYS', 'LANEWISE_TOKEN_KEY'],
    ['EVENTS_ALOW_PRIVATE', 'EVENTS_ALLOW_PRIVATE'],
    ['data_dir', 'DATA_DIR'],
    ['DATADIR', 'DATA_DIR'],
    ['EVENT', 'EVENTS'],
    ['DB_URL', 'DATABASE_URL'],
    ['SECRET_KEY', 'LANEWISE_SECRET_KEY'],
    ['TOKEN_KEY_FILE', 'LANEWISE_TOKEN_KEY_FILE'],
    ['LANEWISE_DATABASE_URL', 'DATABASE_URL'],
    ['LANEWISE_EVENTS', 'EVENTS'],
  ])('is refused: %s', (name, meant) => {
    expect(problemsOf({ [name]: 'false' })).toEqual([
      `${name} is not a setting: did you mean ${meant}? Correct the name, or remove the variable.`,
    ])
  })

  test.each([
    'HOSTNAME',
    'HOSTS',
    'PORTS',
    'LANEWISE_URL',
    'LANEWISE_TOKEN',
    'LANEWISE_PORT',
    'PGDATABASE',
    'XDG_DATA_DIRS',
    'AWS_SECRET_KEY',
    'host',
  ])('is none: %s', (name) => {
    expect(problemsOf({ [name]: 'x' })).toEqual([])
  })

  test('belongs to another program if only LANEWISE_ is missing, and the setting is there', () => {
    const key = randomBytes(32).toString('hex')
    expect(problemsOf({ SECRET_KEY: 'x', LANEWISE_SECRET_KEY: key })).toEqual([])
  })
})

test.each(['999.1.1.1', '127.0.0.1:80', 'http://host', 'a b', '1.2.3'])('HOST cannot be %s', (host) => {
  expect(problemsOf({ HOST: host })).toEqual([
    `HOST must be an address or a name, such as 0.0.0.0 or ::1; it is "${host}".`,
  ])
  for (const right of ['0.0.0.0', '::', 'localhost', 'lanewise.internal'])
    expect(problemsOf({ HOST: right })).toEqual([])
})

describe('the secret key', () => {
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'lanewise-key-'))
    onTestFinished(() => rmSync(made, { recursive: true }))
    return made
  }

  test('must be random', () => {
    for (const typed of ['00'.repeat(32), 'a'.repeat(64), 'passwordpassword'.repeat(4)]) {
      expect(problemsOf({ LANEWISE_SECRET_KEY: typed })).toEqual([
        expect.stringMatching(/^LANEWISE_SECRET_KEY .* different bytes?, and random keys have at least 16/),
      ])
    }
    const old = `${randomBytes(32).toString('hex')},${'00'.repeat(32)}`
    expect(problemsOf({ LANEWISE_SECRET_KEY: old })).toEqual([])
  })

  test.each(['LANEWISE_SECRET_KEY_FILE', 'LANEWISE_TOKEN_KEY_FILE'])(
    'in a file that every user can read is refused, with the remedy: %s',
    (name) => {
      const file = join(folder(), 'key')
      writeFileSync(file, randomBytes(32).toString('hex'))
      chmodSync(file, 0o644)
      expect(problemsOf({ [name]: file })).toEqual([
        `Every user of this machine can read the secret key ${file}: run chmod 600 ${file}, and replace the key if others may have read it.`,
      ])
      for (const mode of [0o600, 0o400, 0o440]) {
        chmodSync(file, mode)
        expect(problemsOf({ [name]: file })).toEqual([])
      }
      for (const mode of [0o602, 0o642]) {
        chmodSync(file, mode)
        expect(problemsOf({ [name]: file })).toEqual([
          `Every user of this machine can write the secret key ${file}: run chmod 600 ${file}, and replace the key if others may have written it.`,
        ])
      }
      expect(problemsOf({ [name]: `${file}-none` })).toEqual([
        `${name} must name a readable file; ${file}-none is not readable.`,
      ])
    },
  )

  test('of tokens is as strict, and the secret key serves both without it', () => {
    for (const typed of ['00'.repeat(32), 'short']) {
      const problems = problemsOf({ LANEWISE_TOKEN_KEY: typed })
      expect(problems).toEqual([expect.stringMatching(/^LANEWISE_TOKEN_KEY .*openssl rand -base64 32/)])
    }
    const [one, two] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
    expect(problemsOf({ LANEWISE_TOKEN_KEY: one, LANEWISE_TOKEN_KEY_FILE: '/dev/null' })).toContain(
      'Set LANEWISE_TOKEN_KEY or LANEWISE_TOKEN_KEY_FILE, not both.',
    )
    const [secret, token] = [secretKeys(one), secretKeys(two)]
    if (secret === null || token === null) throw new Error('No key.')
    expect(tokenKeysOf(readConfig({}), secret)).toEqual(secret)
    const both = readConfig({ LANEWISE_TOKEN_KEY: `${two},${one}` })
    expect(tokenKeysOf(both, secret)).toEqual([...token, ...secret])
    expect(tokenKeysOf(readConfig({ LANEWISE_TOKEN_KEY: two }), secret)).toEqual([...token, ...secret])
  })

  test.each(['2027-02-30', '2027-3-1', 'tomorrow', '2027-03-01T00:00:00Z'])(
    'OLD_TOKENS_UNTIL cannot be %s',
    (day) => {
      expect(problemsOf({ OLD_TOKENS_UNTIL: day })).toEqual([
        `OLD_TOKENS_UNTIL must be a day such as 2027-03-01; it is "${day}".`,
      ])
      expect(readConfig({ OLD_TOKENS_UNTIL: '2027-03-01' }).oldTokensUntil).toBe(Date.UTC(2027, 2, 1))
    },
  )

  test('of a data folder is made once, and a folder without one is said to lack it', () => {
    const data = folder()
    expect(() => secretKeysOf(data)).toThrow(/secret-key is missing, and the database in .* restore the file/)
    makeSecretKey(data)
    const [made] = secretKeysOf(data)
    makeSecretKey(data)
    expect(secretKeysOf(data)).toEqual([made])
    chmodSync(join(data, 'secret-key'), 0o644)
    expect(() => secretKeysOf(data)).toThrow(/^Every user of this machine can read/)
  })
})
