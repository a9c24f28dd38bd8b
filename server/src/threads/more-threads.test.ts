import { expect, test } from 'vitest'
import { problem } from '#contract/errors.ts'
import { readConfig } from '../config.ts'
import { tenantId } from '../database/open-database.ts'
import { secretKey } from '../security/sealed-secret.ts'
import { signInAttempts } from '../security/sign-in-back-off.ts'
import { signUpLimit } from '../security/sign-up-limit.ts'
import type { Desk } from './desk.ts'
import { startMoreThreads } from './more-threads.ts'
import { sharedTenantMemory } from './shared-tenants.ts'

const key = secretKey('a'.repeat(64))
if (key === null) throw new Error('No key.')
const given = {
  config: readConfig({ THREADS: '3' }),
  secretKeys: [key] as const,
  connection: {},
  connectionsMax: 5,
  instance: null,
  memory: sharedTenantMemory(),
  port: 0,
}
const program = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`)
const logged = () => {
  const lines: string[] = []
  const note = (_fields: object, message: string) => lines.push(message)
  return { lines, info: note, warn: note, error: note }
}
const desk = (more: Partial<Desk> = {}): Desk => ({
  signInAttempts: signInAttempts(),
  signUps: signUpLimit(5),
  imports: {
    reserve: async () => 1,
    release: () => {},
    start: () => {},
    startUndo: () => {},
    drain: async () => {},
  },
  backtests: { look: async () => ({ status: 'running', progress: 0 }), drain: async () => {} },
  lastMinute: async () => ({ requests: 0, refused: 0 }),
  ...more,
})
const until = async (isSo: () => boolean) => {
  for (let tries = 0; !isSo() && tries < 1_000; tries++) await new Promise((resume) => setTimeout(resume, 10))
  expect(isSo()).toBe(true)
}

const answers = `
  import { parentPort } from 'node:worker_threads'
  const { talk } = await import(${JSON.stringify(new URL('./talk.ts', import.meta.url).href)})
  const { deskOf } = await import(${JSON.stringify(new URL('./desk.ts', import.meta.url).href)})
  const first = talk(parentPort, { stop: () => process.exit(0), counted: () => ({ requests: 2, refused: 1 }) })
  const desk = deskOf(first)
`

test('a thread that dies is replaced, and the others go on', async () => {
  const log = logged()
  const more = await startMoreThreads(given, {
    desk: desk(),
    log,
    file: program(`${answers}; first.tell('ready'); setTimeout(() => { throw new Error('died') }, 300)`),
  })
  await until(() => log.lines.filter((line) => line.includes('another one takes its place')).length >= 4)
  await more.stop()
  const soFar = log.lines.length
  await new Promise((resume) => setTimeout(resume, 500))
  expect(log.lines.length).toBe(soFar)
})

test('a thread that does not come to answer fails the start, and leaves none behind', async () => {
  const dying = program(`throw new Error('no database')`)
  await expect(startMoreThreads(given, { desk: desk(), log: logged(), file: dying })).rejects.toThrow(
    'no database',
  )
})

test('what is counted in all threads is added up', async () => {
  const more = await startMoreThreads(given, {
    desk: desk(),
    log: logged(),
    file: program(`${answers}; first.tell('ready')`),
  })
  expect(await more.counted(tenantId(1), 0)).toEqual({ requests: 4, refused: 2 })
  await more.stop()
  expect(await more.counted(tenantId(1), 0)).toEqual({ requests: 0, refused: 0 })
})

test('an attempt at a password that a dying thread had begun is over, and a refusal of the first thread is one of the other', async () => {
  const attempts = signInAttempts()
  const seen: string[] = []
  const more = await startMoreThreads(given, {
    desk: desk({
      signInAttempts: attempts,
      backtests: {
        look: async () => {
          throw problem('unavailable', 'Too many backtests are waiting.', {
            headers: { 'Retry-After': '60' },
          })
        },
        drain: async () => {},
      },
      imports: {
        reserve: async (tenant, bytes) => tenant * bytes,
        release: (place) => seen.push(`released ${place}`),
        start: (_tenant, importId, file) => seen.push(`${importId} ${Buffer.concat(file)}`),
        startUndo: (tenant, importId) => seen.push(`undo ${importId} of ${tenant}`),
        drain: async () => {},
      },
      lastMinute: async (_tenant, now) => {
        seen.push(`told ${now}`)
        return { requests: 0, refused: 0 }
      },
    }),
    log: logged(),
    file: program(`${answers}
      for (let i = 0; i < 5; i++) await desk.signInAttempts.begin('ana@example.com', '192.0.2.1', 0)
      const { waitMs } = await desk.signInAttempts.begin('ana@example.com', '192.0.2.1', 0)
      desk.imports.start(1, 7, [Buffer.from('a,'), Buffer.from('b')], {})
      desk.imports.release(await desk.imports.reserve(2, 3))
      await desk.imports.reserve(2, 4)
      desk.imports.startUndo(1, 8)
      const refused = await desk.backtests.look(1, 0).catch((error) => error)
      await desk.lastMinute(1, waitMs > 0 && refused.code === 'unavailable' && refused.headers['Retry-After'] === '60' ? 1 : 0)
      first.tell('ready')`),
  })
  expect(seen).toContain('7 a,b')
  expect(seen).toContain('released 6')
  expect(seen).not.toContain('released 8')
  expect(seen).toContain('undo 8 of 1')
  expect(seen.filter((one) => one.startsWith('told'))).toEqual(['told 1', 'told 1'])
  expect((await attempts.begin('ana@example.com', '192.0.2.1', 0)).waitMs).toBeGreaterThan(0)
  await more.stop()
  // What a thread leaves behind when it ends is given back.
  expect(seen).toContain('released 8')
  expect((await attempts.begin('ana@example.com', '192.0.2.1', 0)).waitMs).toBe(0)
})
