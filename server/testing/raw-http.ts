import { once } from 'node:events'
import { connect } from 'node:net'
import type { TestApp } from './test-app.ts'

/** A response parsed from raw bytes. */
export interface RawAnswer {
  readonly status: number
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came back
  readonly body: any
}

/** Parses all complete responses in the bytes received on a connection. */
function readAnswers(bytes: string): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = bytes
  while (rest.startsWith('HTTP/')) {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) break
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const length = Number(headers['content-length'] ?? 0)
    const text = rest.slice(end + 4, end + 4 + length)
    // Truncated, as a response can be if the client sends on without reading.
    if (text !== '' && text.length < length) break
    const isJson = headers['content-type']?.includes('json') === true && text !== ''
    answers.push({
      status: Number(first.split(' ')[1]),
      headers,
      text,
      body: isJson ? JSON.parse(Buffer.from(text, 'latin1').toString()) : null,
    })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}

/** How long to wait for more answers than expected. */
const furtherMs = 400

/**
 * Sends exactly these bytes, and returns the responses received until the connection closes. A connection that stays open is closed
 * soon after `answers` responses, or after a silence of `silenceMs` milliseconds. For malformed requests, which an HTTP library would
 * refuse or correct.
 */
export function sendRaw(
  app: Pick<TestApp, 'url'>,
  bytes: string | Buffer | readonly (string | Buffer)[],
  { answers = 1, silenceMs = 300_000 } = {},
): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(app.url)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), hostname)
    const finish = () => {
      socket.destroy()
      resolve(readAnswers(received))
    }
    socket.setTimeout(silenceMs, finish)
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (readAnswers(received).length >= answers) socket.setTimeout(furtherMs)
    })
    socket.on('end', finish)
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') finish()
      else reject(error)
    })
    for (const part of typeof bytes === 'string' || Buffer.isBuffer(bytes) ? [bytes] : bytes) {
      socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
    }
  })
}

/** Returns a request's start line and headers as text, unchanged. */
export function head(firstLine: string, headers: readonly (readonly [string, string])[]): string {
  return `${firstLine}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

/** Sends headers and no body. Returns the answer, and how long the connection was open. */
export async function sendHead(
  app: Pick<TestApp, 'url'>,
  firstLine: string,
  headers: readonly (readonly [string, string])[],
) {
  const { hostname, port } = new URL(app.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const began = performance.now()
  let text = ''
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.write(head(firstLine, [['Host', 'x'], ...headers]))
  await once(socket, 'close')
  return {
    status: Number(text.split(' ')[1]),
    saysClose: /^connection: close\r?$/im.test(text),
    allow: /^allow: (.*)\r?$/im.exec(text)?.[1]?.trim(),
    openMs: performance.now() - began,
  }
}

export const jsonHeader = ['Content-Type', 'application/json'] as const

/** The headers of bodies that are announced and never sent. */
export const announcedBodies = [
  ['a short body', ['Content-Length', '100']],
  ['a long body', ['Content-Length', '60000']],
  ['a body of unknown length', ['Transfer-Encoding', 'chunked']],
] as const

/** Requests that are refused for their address, with each announced body. */
export const refusedForAddress = announcedBodies.flatMap(([what, length]) => [
  { what, length, firstLine: 'POST /no/such/address HTTP/1.1', status: 404 },
  { what, length, firstLine: 'PUT /api/integrations/tms/shipment-update HTTP/1.1', status: 405 },
  { what, length, firstLine: 'POST /healthz HTTP/1.1', status: 405 },
  { what, length, firstLine: 'PUT /mcp HTTP/1.1', status: 405 },
  { what, length, firstLine: 'GET /no/such/address HTTP/1.1', status: 404 },
  { what, length, firstLine: 'POST /%zz HTTP/1.1', status: 400 },
])
