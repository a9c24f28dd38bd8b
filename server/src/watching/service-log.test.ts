import { expect, test } from 'vitest'
import { serviceLog } from './service-log.ts'

test('an error is logged with its message and cause, without other properties', () => {
  const lines: string[] = []
  const log = serviceLog('info', { write: (line) => lines.push(line) })
  const refused = Object.assign(new Error('a check was violated'), {
    detail: 'Failing row contains (Harvest Table Foods, 2150).',
  })
  log.error({ err: new Error('The import failed.', { cause: refused }), import_id: 7 }, 'an import failed')
  const { level, msg, import_id, err } = JSON.parse(lines[0] ?? '')
  expect({ level, msg, import_id }).toEqual({ level: 'error', msg: 'an import failed', import_id: 7 })
  expect([err.message, err.cause.message]).toEqual(['The import failed.', 'a check was violated'])
  expect(err.stack).toContain('service-log.test')
  expect(lines.join()).not.toContain('Harvest Table')
})

test('of many equal errors, one in ten seconds has its stack, and each other line is shorter than 500 bytes', () => {
  const lines: string[] = []
  let now = 0
  const log = serviceLog('info', { write: (line) => lines.push(line) }, () => now)
  const about = {
    request_id: '0d5ab7f4-51b3-4b8f-9a55-3a9f2e7b1c11',
    tenant_id: 2_147_483_647,
    code: 'unavailable',
  }
  const chain = (length: number, cause: unknown): unknown =>
    length === 0 ? cause : new Error('\u0001É𝒳'.repeat(400), { cause: chain(length - 1, cause) })
  const fail = (message: string) =>
    log.error(
      {
        ...about,
        err: new Error('The database cannot answer.', {
          cause: new Error(message, { cause: chain(9, 'x') }),
        }),
      },
      'unavailable',
    )
  for (; now < 20_000; now += 100) fail(`connect ECONNREFUSED 10.0.0.6:5432 ${'É'.repeat(1_000)}`)
  fail('another cause')
  const withStack = lines.filter((line) => line.includes('"stack"'))
  expect(withStack.map((line) => JSON.parse(line).err.cause.message.slice(0, 20))).toEqual([
    'connect ECONNREFUSED',
    'connect ECONNREFUSED',
    'another cause',
  ])
  const others = lines.filter((line) => !line.includes('"stack"'))
  expect(others).toHaveLength(198)
  expect(Math.max(...others.map((line) => Buffer.byteLength(line)))).toBeLessThan(500)
  expect(JSON.parse(others[0] ?? '').err.cause.message).toMatch(/^connect ECONNREFUSED 10.0.0.6:5432 É+$/)
  log.error({ ...about, err: 'x'.repeat(9_000) }, 'unavailable')
  expect(Buffer.byteLength(lines.at(-1) ?? '')).toBeLessThan(500)
})
