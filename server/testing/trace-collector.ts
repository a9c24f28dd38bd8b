import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as a trace collector receives it. */
export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  /** OTLP status code: 0 is unset, 2 is an error. */
  readonly status: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly resource: Readonly<Record<string, string | number | boolean>>
}

export interface TraceCollector {
  readonly url: string
  readonly spans: CollectedSpan[]
  /** The raw bodies of all requests. */
  readonly bodies: string[]
  /** The headers of the last request. */
  readonly headers: () => NodeJS.Dict<string | string[]>
  close(): Promise<void>
}

interface Attribute {
  readonly key: string
  readonly value: {
    readonly stringValue?: string
    readonly intValue?: number
    readonly boolValue?: boolean
    readonly doubleValue?: number
  }
}

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, 'attributes' | 'resource' | 'status'> & {
        readonly attributes: readonly Attribute[]
        readonly status: { readonly code?: number }
      })[]
    }[]
  }[]
}

const read = (attributes: readonly Attribute[]) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.intValue ?? value.boolValue ?? value.doubleValue ?? '',
    ]),
  )

/** A trace collector that accepts OTLP over HTTP in JSON. */
export async function traceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = []
  const bodies: string[] = []
  let headers: NodeJS.Dict<string | string[]> = {}
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      const fits =
        request.method === 'POST' &&
        request.url === '/v1/traces' &&
        request.headers['content-type'] === 'application/json'
      if (!fits) {
        response.writeHead(404).end()
        return
      }
      headers = request.headers
      bodies.push(body)
      for (const { resource, scopeSpans } of (JSON.parse(body) as TraceRequest).resourceSpans) {
        for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
          spans.push({
            ...span,
            status: span.status.code ?? 0,
            attributes: read(span.attributes),
            resource: read(resource.attributes),
          })
        }
      }
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    headers: () => headers,
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
