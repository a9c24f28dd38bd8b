import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { RunningService } from '#testing/running-service.ts'
import { proofFolder } from './own-postgres.ts'
import { type FaultName, planting } from './planted-fault.ts'
import type { ServiceProcesses } from './service-process.ts'
import { type Watched, watchingTurns } from './turn-watch.ts'

/** A request without an answer in this time counts as one that stopped the whole service. */
export const patienceMs = 20_000

/** An answer. `bytes` counts its headers, too. */
export interface Answered {
  readonly status: number
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, unknown>>
  readonly bytes: number
  /** The body, up to `answerTextMax` bytes. */
  readonly text: string
}

export const answerTextMax = 100_000

/** A service in a process of its own that measures its turns and its memory (`turn-watch.ts`). */
export class WatchedService {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 4 })
  readonly #folder = proofFolder()
  readonly #socket = join(this.#folder, 'turns')
  readonly #services: ServiceProcesses
  readonly #env: Record<string, string>
  service!: RunningService

  constructor(services: ServiceProcesses, fault?: FaultName) {
    this.#services = services
    this.#env = {
      TURN_WATCH: this.#socket,
      NODE_OPTIONS: [watchingTurns(), ...(fault === undefined ? [] : [planting(fault)])].join(' '),
    }
  }

  async start(): Promise<void> {
    rmSync(this.#socket, { force: true })
    this.service = await this.#services.start({ env: this.#env })
  }

  /** Kills a service that answers nobody, and starts another one. */
  async restart(): Promise<void> {
    await this.service.end('SIGKILL')
    await this.start()
  }

  close(): void {
    this.#agent.destroy()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Sends a request, and returns its answer; status 0 if there was none in time. */
  send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string | Buffer,
  ): Promise<Answered> {
    return new Promise((resolve) => {
      const none = (error: Error) => resolve({ status: 0, headers: {}, bytes: 0, text: error.message })
      const asked = request(
        `${this.service.url}${path}`,
        {
          agent: this.#agent,
          method,
          headers: {
            ...headers,
            ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }),
          },
          signal: AbortSignal.timeout(patienceMs),
        },
        (answer) => {
          let bytes = answer.rawHeaders.join('').length
          const first: Buffer[] = []
          answer.on('data', (chunk: Buffer) => {
            bytes += chunk.length
            if (bytes <= answerTextMax) first.push(chunk)
          })
          answer.once('error', none)
          answer.once('end', () => {
            const text = Buffer.concat(first).toString()
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes, text })
          })
        },
      )
      asked.once('error', none)
      asked.end(body)
    })
  }

  /** Waits until an import ends. Returns false if the service answers no more. */
  async importEnds(token: string, importId: number): Promise<boolean> {
    for (;;) {
      const headers = { Authorization: `Bearer ${token}` }
      const { status, text } = await this.send('GET', `/api/imports/${importId}`, headers)
      if (status === 0) return false
      if (!text.includes('"status":"running"')) return true
      await delay(20)
    }
  }

  /** Returns the measurements since the last look; null if the service does not answer. With `collect`, it frees memory first. */
  async look(collect = false): Promise<Watched | null> {
    const asked = request({ socketPath: this.#socket, path: collect ? '/collect' : '/', timeout: patienceMs })
    asked.end()
    try {
      const [answer] = await once(asked, 'response', { signal: AbortSignal.timeout(patienceMs) })
      let text = ''
      for await (const chunk of answer) text += String(chunk)
      return JSON.parse(text) as Watched
    } catch {
      return null
    }
  }
}
