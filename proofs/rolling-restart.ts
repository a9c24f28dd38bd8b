import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { makeTenant, signedHeaders } from '#testing/make.ts'
import type { RunningService } from '#testing/running-service.ts'
import {
  between,
  type Finding,
  firstFaults,
  type Proof,
  type ProofOptions,
  seeded,
  shareOf,
} from './proof.ts'
import { proofDatabase } from './proof-database.ts'
import { serviceProcesses } from './service-process.ts'
import { asApp, makeWriters } from './signed-writers.ts'

const readersCount = 12
/** Without a connection of a probe or a client, a node must stay reachable, too. */
const probeEveryMs = 500

/** A minimal load balancer: it forwards TCP connections to the ready nodes in rotation. */
async function balancer(nodes: () => readonly RunningService[]) {
  const ready = new Set<string>()
  const open = new Set<Socket>()
  let next = 0
  let over = false
  const probing = (async () => {
    while (!over) {
      await Promise.all(
        nodes().map(async ({ url }) => {
          if ((await ask(false, Number(new URL(url).port), 'GET', '/readyz', {})) === '200') ready.add(url)
          else ready.delete(url)
        }),
      )
      for (const url of ready) if (!nodes().some((node) => node.url === url)) ready.delete(url)
      await delay(probeEveryMs)
    }
  })()
  const server = createServer((client) => {
    open.add(client)
    client.once('close', () => open.delete(client))
    client.on('error', () => {})
    const tryNode = (attempts: number) => {
      const choice = [...ready]
      const url = choice[next++ % Math.max(1, choice.length)]
      if (url === undefined || attempts === 0) {
        client.destroy()
        return
      }
      const upstream = connect(Number(new URL(url).port), '127.0.0.1')
      const refused = () => {
        ready.delete(url)
        tryNode(attempts - 1)
      }
      upstream.once('error', refused)
      upstream.once('connect', () => {
        upstream.off('error', refused)
        upstream.on('error', () => client.destroy())
        upstream.once('close', () => client.destroySoon())
        client.once('close', () => upstream.destroy())
        client.pipe(upstream).pipe(client)
      })
    }
    tryNode(4)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The balancer has no port.')
  return {
    port: address.port,
    isReady: ({ url }: RunningService) => ready.has(url),
    async close() {
      over = true
      for (const socket of open) socket.destroy()
      server.close()
      await probing
    },
  }
}

/** Sends one request without retries, without an agent on a new connection. Returns the status or the error; all but 200 is a failure. */
function ask(
  agent: Agent | false,
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Promise<string> {
  return new Promise((resolve) => {
    const asked = request({ agent, host: '127.0.0.1', port, method, path, headers }, (answer) => {
      answer.once('error', (error) => resolve(`truncated: ${error.message}`))
      answer.once('end', () => resolve(String(answer.statusCode)))
      answer.resume()
    })
    asked.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    asked.setTimeout(10_000, () => asked.destroy(new Error('no response')))
    asked.end(body)
  })
}

async function restartNodes(
  restarts: number,
  { cluster, seed, onProgress, signal }: ProofOptions,
  fault?: 'exit at once',
): Promise<Finding> {
  const random = seeded(seed)
  const database = await proofDatabase(cluster)
  const services = serviceProcesses(database)
  const planted = fault === undefined ? {} : { fault }
  const results = new Map<string, number>()
  const faults: string[] = []
  let nodes: RunningService[] = []
  let over = false
  let done = 0
  let slowestStopMs = 0
  let clients: Promise<unknown> = Promise.resolve()
  const front = await balancer(() => nodes)
  const untilReady = async (node: RunningService) => {
    while (!front.isReady(node)) await delay(10)
  }
  try {
    nodes = await Promise.all([services.start(planted), services.start(planted)])
    const [first] = nodes
    if (first === undefined) throw new Error('No node.')
    const { owner } = await makeTenant(asApp(first.url))
    const writers = await makeWriters(first.url, 4)
    await Promise.all(nodes.map(untilReady))
    let clientsCount = 0
    // Every second client opens a connection for each request.
    const loop = async (one: (agent: Agent | false) => Promise<string>, pauseMs: number) => {
      const agent = clientsCount++ % 2 === 0 && new Agent({ keepAlive: true, maxSockets: 1 })
      while (!over) {
        const result = await one(agent)
        results.set(result, (results.get(result) ?? 0) + 1)
        await delay(pauseMs)
      }
      if (agent) agent.destroy()
    }
    let value = 1_000
    clients = Promise.all([
      ...Array.from({ length: readersCount }, () =>
        loop(
          (agent) => ask(agent, front.port, 'GET', '/api/me', { Authorization: `Bearer ${owner}` }),
          between(random, 15, 45),
        ),
      ),
      ...writers.map(({ integration, laneRef }) =>
        loop((agent) => {
          const bytes = JSON.stringify({ lane_ref: laneRef, customer_rate: value++ })
          const headers = {
            ...signedHeaders(integration, bytes, Math.floor(Date.now() / 1000)),
            'Content-Length': String(Buffer.byteLength(bytes)),
          }
          return ask(agent, front.port, 'POST', '/api/integrations/tms/shipment-update', headers, bytes)
        }, 220),
      ),
    ])
    const isLost = () => [...results.keys()].some((result) => result !== '200')
    for (; done < restarts && !isLost() && !signal.aborted; done++) {
      const fresh = await services.start(planted)
      nodes = [...nodes, fresh]
      await untilReady(fresh)
      const [old] = nodes
      if (old === undefined) throw new Error('No node.')
      const began = performance.now()
      const { code } = await old.end('SIGTERM')
      slowestStopMs = Math.max(slowestStopMs, performance.now() - began)
      if (code !== 0) faults.push(`a node exited with ${code}`)
      nodes = nodes.filter((node) => node !== old)
      onProgress(`${done + 1} of ${restarts} restarts, ${results.get('200') ?? 0} responses`)
    }
    over = true
    await clients
    for (const [result, count] of results)
      if (result !== '200') faults.push(`${count} requests ended in ${result}`)
    const count = results.get('200') ?? 0
    if (count < done * 50) faults.push('too few requests were sent: the proof is empty')
    return {
      figure: `${done} restarts, ${count} successful requests; the slowest stop took ${Math.round(slowestStopMs)} ms`,
      faults: firstFaults(faults),
    }
  } finally {
    over = true
    await services.remove()
    await clients
    await front.close()
    await database.drop()
  }
}

export const rollingRestart: Proof = {
  name: 'rolling-restart',
  claim: 'Two nodes behind a load balancer are restarted one after the other, and no request fails',
  fault: 'a node exits at once when stopped',
  run: (options) => restartNodes(shareOf(16, options.share), options),
  control: (options) => restartNodes(2, options, 'exit at once'),
}
