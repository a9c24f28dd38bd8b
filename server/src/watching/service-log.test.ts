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
