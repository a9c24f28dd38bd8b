import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Static } from 'typebox'
import type {
  CredentialExpiring,
  EndpointTest,
  EventBody,
  OutcomeChanged,
  QuoteBooked,
} from '#contract/events.ts'
import { call, type MadeTenant, requireStatus } from './make.ts'
import type { TestApp } from './test-app.ts'

/** An event of any type, with the fields of all types. */
interface ReceivedEvent {
  readonly type: EventBody['type']
  readonly timestamp: string
  readonly data: Static<typeof QuoteBooked> &
    Static<typeof OutcomeChanged> &
    Static<typeof EndpointTest> &
    Static<typeof CredentialExpiring>
}

/** A webhook request as received. `body` is the exact text. */
export interface Received {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
  readonly event: ReceivedEvent
}

/** A webhook receiver that records requests and gives configurable responses. */
export interface EventReceiver {
  readonly url: string
  readonly received: Received[]
  /** Responds to a request. The default responds 204. A function that does nothing leaves the request unanswered. */
  answer: (response: ServerResponse, received: Received) => void
  /** Waits until `isEnough` returns true. Throws with the received event types after `patienceMs` milliseconds. */
  until(isEnough: (received: readonly Received[]) => boolean, patienceMs?: number): Promise<void>
  close(): Promise<void>
}

export const answerWith =
  (status: number, body = '', headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(body)

export async function eventReceiver(port = 0): Promise<EventReceiver> {
  let onReceived: () => void = () => {}
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const headers = request.headers as Record<string, string>
      const one = { path: request.url ?? '', headers, body, event: JSON.parse(body) as ReceivedEvent }
      receiver.received.push(one)
      onReceived()
      receiver.answer(response, one)
    })
  })
  const receiver: EventReceiver = {
    url: '',
    received: [],
    answer: answerWith(204),
    async until(isEnough, patienceMs = 60_000) {
      const deadline = performance.now() + patienceMs
      while (!isEnough(receiver.received)) {
        const left = deadline - performance.now()
        if (left <= 0)
          throw new Error(
            `Too few events arrived: ${receiver.received.map(({ event }) => event.type).join(', ')}`,
          )
        const { promise, resolve } = Promise.withResolvers<void>()
        onReceived = resolve
        const timer = setTimeout(resolve, left)
        await promise
        clearTimeout(timer)
      }
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(receiver, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` })
}

/** Registers a URL as an event endpoint of a tenant. */
export async function sendEventsTo(
  app: TestApp,
  tenant: Pick<MadeTenant, 'owner'>,
  url: string,
  more: Record<string, unknown> = {},
): Promise<{ id: number; secret: string }> {
  const answer = await call(app, 'POST', '/api/event-endpoints', {
    token: tenant.owner,
    body: { url, ...more },
  })
  const { endpoint, secret } = requireStatus('adding an event endpoint', answer, 201)
  return { id: endpoint.id, secret }
}
