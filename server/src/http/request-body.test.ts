import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test, vi } from 'vitest'
import { uploadGraceSeconds } from '#contract/limits.ts'
import { readPieces } from './request-body.ts'

afterEach(() => {
  vi.useRealTimers()
})

const read = (body: PassThrough) =>
  readPieces(body as unknown as IncomingMessage, { bytes: undefined, bytesMax: 1_000_000, take: () => {} })

test('the chunks of a file are not held once they are copied', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const body = new PassThrough()
  const reading = read(body)
  const sent: WeakRef<Buffer>[] = []
  const send = () => {
    const chunk = Buffer.from('0123456789')
    sent.push(new WeakRef(chunk))
    body.write(chunk)
  }
  for (let nth = 0; nth < 20; nth++) {
    send()
    await turn()
  }
  collectGarbage()
  // A stream may hold its newest chunk.
  expect(sent.slice(0, 18).filter((chunk) => chunk.deref() !== undefined)).toEqual([])
  body.end()
  expect(Buffer.concat(await reading).toString()).toBe('0123456789'.repeat(20))
})

test('a file that arrives too slowly ends its reading', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const body = new PassThrough()
  const refused = expect(read(body)).rejects.toMatchObject({ code: 'request-timeout' })
  body.write('0')
  for (let second = 0; second <= uploadGraceSeconds; second++) {
    vi.advanceTimersByTime(1_000)
    await turn()
  }
  await refused
})
