import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as the server received it. */
export interface Arrived {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly atMs: number
}

/**
 * The response to one request, when `after` resolves. `cut` closes the connection without a response, `silence` never responds, and `half` closes
 * the connection in the middle of the body.
 */
export type Scene =
  | {
      readonly status: number
      readonly body?: unknown
      readonly headers?: Record<string, string>
      readonly after?: Promise<void>
    }
  | 'cut'
  | 'silence'
  | 'half'

export interface ScriptedServer {
  readonly url: string
  readonly arrived: readonly Arrived[]
  /** Sets the responses to the next requests, in order. The last one repeats. */
  play(...scenes: Scene[]): void
  close(): Promise<void>
}

/** A server with scripted responses, so that tests of the client can provoke each kind of failure. */
export async function scriptedServer(): Promise<ScriptedServer> {
  const arrived: Arrived[] = []
  let scenes: Scene[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      arrived.push({ method, url, headers, body: Buffer.concat(chunks).toString(), atMs: performance.now() })
      const scene = scenes.length > 1 ? scenes.shift() : scenes[0]
      void perform(scene ?? { status: 200, body: {} }, request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    play(...next) {
      scenes = next
      arrived.length = 0
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function perform(scene: Scene, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (scene === 'silence') return
  if (scene === 'cut') {
    request.socket.destroy()
    return
  }
  if (scene === 'half') {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' })
    response.write('{"found":', () => request.socket.destroy())
    return
  }
  const { status, body, headers, after } = scene
  if (after !== undefined) await after
  const isText = typeof body === 'string'
  response.writeHead(status, { 'Content-Type': isText ? 'text/html' : 'application/json', ...headers })
  response.end(isText ? body : JSON.stringify(body ?? {}))
}

/** A problem response (RFC 9457) in the format that the service uses. */
export function problemScene(
  status: number,
  code: string,
  more: { headers?: Record<string, string>; members?: Record<string, unknown> } = {},
): Scene {
  return {
    status,
    headers: { 'Content-Type': 'application/problem+json', ...more.headers },
    body: {
      type: `/problems/${code}`,
      title: code,
      status,
      detail: `It is ${code}.`,
      request_id: 'r-1',
      ...more.members,
    },
  }
}
