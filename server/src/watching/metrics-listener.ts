import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface MetricsListener {
  readonly port: number
  close(): Promise<void>
}

/** Serves `/metrics` on its own port, and nothing else. The port of the service does not serve metrics. */
export async function listenForMetrics(
  { port, host }: { port: number; host: string },
  read: () => Promise<string>,
  onError: (error: unknown) => void,
): Promise<MetricsListener> {
  // Loaded only when metrics are served, because loading prom-client lengthens the start.
  const { contentType } = await import('./metrics.ts')
  /** Concurrent scrapes share one read. */
  let reading: Promise<string> | null = null
  const readOnce = () => {
    reading ??= read().finally(() => {
      reading = null
    })
    return reading
  }
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 5_000 }, (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead || (request.url ?? '').split('?')[0] !== '/metrics') {
      response.writeHead(isRead ? 404 : 405, isRead ? {} : { Allow: 'GET, HEAD' }).end()
      return
    }
    readOnce()
      .then((body) => response.writeHead(200, { 'Content-Type': contentType }).end(body))
      .catch((error: unknown) => {
        onError(error)
        response.writeHead(500).end()
      })
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
