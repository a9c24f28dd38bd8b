import type { SeededRandom } from '#server/sample/index.ts'
import { head, type RawAnswer, sendRaw } from '#testing/raw-http.ts'

/**
 * Request smuggling: bytes that two HTTP parsers could read differently. Each exchange hides a second request, a write as an
 * owner, that only a confused parser would execute. The database shows whether it was executed.
 */

export interface RawExchange {
  readonly what: string
  readonly parts: readonly string[]
  /** The number of responses that a correct parser may send. */
  readonly answersMax: number
}

const path = '/api/integrations/tms/shipment-update'

/** Headers that make the length of the body ambiguous. The correct reaction is 400 and a closed connection. */
const ambiguous: readonly ((length: number) => string)[] = [
  (length) => `Content-Length: ${length}\r\nTransfer-Encoding: chunked\r\n`,
  (length) => `Transfer-Encoding: chunked\r\nContent-Length: ${length}\r\n`,
  (length) => `Content-Length: 0\r\nContent-Length: ${length}\r\n`,
  (length) => `Content-Length: ${length}\r\nContent-Length: 0\r\n`,
  (length) => `Content-Length: ${length}, 0\r\n`,
  (length) => `Content-Length: +${length}\r\n`,
  (length) => `Content-Length: 0x${length.toString(16)}\r\n`,
  () => 'Content-Length: -1\r\n',
  () => 'Content-Length: 1e1\r\n',
  () => 'Content-Length: 99999999999999999999\r\n',
  (length) => `Content-Length : ${length}\r\n`,
  (length) => `Content-Length\t: ${length}\r\n`,
  (length) => `X: a\r\n Content-Length: ${length}\r\n`,
  (length) => `X: a\nContent-Length: ${length}\n`,
  () => 'Transfer-Encoding: xchunked\r\n',
  () => 'Transfer-Encoding: chunked, identity\r\n',
  () => 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
  () => 'Transfer-Encoding: \u000bchunked\r\n',
  () => 'Transfer-Encoding : chunked\r\n',
  () => 'X: a\u0000b\r\nContent-Length: 0\r\n',
  () => ': a\r\nContent-Length: 0\r\n',
]

const chunkForms: readonly ((text: string) => string)[] = [
  (text) =>
    [...text]
      .map((letter) => `1\r\n${letter}\r\n`)
      .join('')
      .concat('0\r\n\r\n'),
  (text) => `${text.length.toString(16)};a=b;c="d"\r\n${text}\r\n0\r\nX-Service-Signature: sha256=x\r\n\r\n`,
  (text) => `0000${text.length.toString(16).toUpperCase()}\r\n${text}\r\n000\r\n\r\n`,
  (text) => `${text.length.toString(16)}\r\n${text}`,
  (text) => `-1\r\n${text}\r\n0\r\n\r\n`,
  (text) => `fffffffffffffffff\r\n${text}`,
  (text) => `${text.length.toString(16)}\n${text}\n0\n\n`,
  (text) => `${text.length.toString(16)}\r\n${text}X\r\n0\r\n\r\n`,
  (text) => `0x${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`,
]

/** Generates a random exchange. `owner` is the Authorization header with which the hidden request would succeed. */
export function rawExchange(chance: SeededRandom, owner: string): RawExchange {
  const hiddenBody = '{"name":"SMUGGLED"}'
  const hidden = `${head('PATCH /api/tenant HTTP/1.1', [
    ['Host', 'x'],
    ['Authorization', owner],
    ['Content-Type', 'application/json'],
    ['Content-Length', String(hiddenBody.length)],
  ])}${hiddenBody}`
  const extra = Array.from(
    { length: Math.floor(chance.uniform() * 4) },
    (_, at) => `X-${at}: ${'y'.repeat(at * 9)}\r\n`,
  )
  const start = `POST ${path} HTTP/1.1\r\nHost: x\r\n${extra.join('')}Content-Type: application/json\r\nConnection: close\r\n`
  switch (chance.weighted([5, 3, 2, 2, 2, 1])) {
    case 0: {
      const framing = chance.pick(ambiguous)(hidden.length)
      return { what: 'ambiguous framing', parts: [`${start}${framing}\r\n${hidden}`], answersMax: 1 }
    }
    case 1: {
      const form = chance.pick(chunkForms)
      const parts = [`${start}Transfer-Encoding: chunked\r\n\r\n`, form(hidden)]
      // Two answers: one refuses the missing credential, and one the invalid chunk after it.
      return { what: 'chunks', parts, answersMax: 2 }
    }
    case 2: {
      // Pipelined reads: several on one connection, without waiting. Each gets its own response.
      const count = 1 + Math.floor(chance.uniform() * 8)
      const one = (more: readonly (readonly [string, string])[]) =>
        head('GET /healthz HTTP/1.1', [['Host', 'x'], ...more])
      const last = one([['Connection', 'close']])
      return { what: 'pipelining', parts: [one([]).repeat(count - 1) + last], answersMax: count }
    }
    case 3: {
      const whole = `${start}Content-Length: 500\r\n\r\n{"a":`
      return {
        what: 'a caller that leaves',
        parts: [whole.slice(0, Math.floor(chance.uniform() * whole.length))],
        answersMax: 1,
      }
    }
    case 4: {
      const bytes = Buffer.from(
        `GET /api/me HTTP/1.1\r\nHost: x\r\nAuthorization: ${owner}\r\nConnection: close\r\n\r\n`,
      )
      for (let times = 1 + Math.floor(chance.uniform() * 4); times > 0; times--) {
        bytes[Math.floor(chance.uniform() * bytes.length)] = Math.floor(chance.uniform() * 256)
      }
      return { what: 'a read with wrong bytes', parts: [bytes.toString('latin1')], answersMax: 3 }
    }
    default: {
      const bytes = Buffer.from(Array.from({ length: 200 }, () => Math.floor(chance.uniform() * 256)))
      return { what: 'noise', parts: [bytes.toString('latin1')], answersMax: 1 }
    }
  }
}

/** Sends an exchange, and returns one line per fault in the responses. */
export async function faultsOfExchange(url: string, exchange: RawExchange): Promise<string[]> {
  const hides = exchange.what === 'ambiguous framing' || exchange.what === 'chunks'
  // A complete request gets a response and a closed connection; an incomplete one does not need a long wait.
  const answers: RawAnswer[] = await sendRaw({ url }, exchange.parts, hides ? {} : { silenceMs: 100 })
  const faults = answers
    .filter(({ status }) => !(status >= (hides ? 400 : 200) && status < 500))
    .map(({ status }) => `returned ${status}`)
  if (answers.length > exchange.answersMax)
    faults.push(`${answers.length} responses to ${exchange.answersMax} requests`)
  if (exchange.what === 'ambiguous framing' && answers[0]?.status !== 400) {
    faults.push(`an ambiguous framing returned ${answers[0]?.status}`)
  }
  return faults
}
