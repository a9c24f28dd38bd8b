import { registerHooks } from 'node:module'

/**
 * Plants a fault in a service when it is loaded: `node --import planted-fault.ts?fault=NAME`. It replaces a text in one module
 * in memory; the file does not change. If the text is not found, loading fails, because a fault that is not planted proves
 * nothing.
 */

interface Fault {
  readonly file: string
  readonly text: string
  readonly instead: string
}

export const faults = {
  /** A lost idle connection ends the process. */
  'pool without a listener': {
    file: '/server/src/database/session/open-database.ts',
    text: "pool.on('error', (error) => onIdleError?.(error))",
    instead: '',
  },
  /** A repeated request is not recognized. */
  'every request is new': {
    file: '/server/src/http/serve-endpoint.ts',
    text: 'Number(timestamp), requestDigest }',
    instead: 'Number(timestamp), requestDigest: Buffer.from(String(Math.random()).padEnd(32, "0")) }',
  },
  /** A stop signal ends the process at once. */
  'exit at once': {
    file: '/server/src/main.ts',
    text: 'const stop = (signal: NodeJS.Signals) => {',
    instead: 'const stop = (signal: NodeJS.Signals) => { process.exit(0);',
  },
  /** Errors of the PostgreSQL class "insufficient resources" return 500. */
  'a full disk is a bug': {
    file: '/server/src/database/session/database-failures.ts',
    text: "new Set(['08', '53', '57', '58', 'XX'])",
    instead: "new Set(['08', '57', '58', 'XX'])",
  },
  /** Requests over the limit are not refused. */
  'no rate limit per brokerage': {
    file: '/server/src/http/admission.ts',
    text: 'if (!permit.admitted) throw quotaExceeded(permit)',
    instead: 'if (false) throw quotaExceeded(permit)',
  },
  /** Transactions of all brokerages share one queue, and one brokerage may use all connections. */
  'one queue for all brokerages': {
    file: '/server/src/database/session/fair-connections.ts',
    text: 'lend(owner: Owner): Promise<Lent> {\n',
    instead: 'lend(_: Owner, owner: Owner = null): Promise<Lent> {\n',
  },
  /** The decompressed file is held in memory. */
  'files are decompressed as a whole': {
    file: '/server/src/tables/table-file.ts',
    text: 'isPacked ? gunzipped(file) : file',
    instead:
      "isPacked ? [await (await import('node:util')).promisify((await import('node:zlib')).gunzip)(Buffer.concat([...file]))] : file",
  },
  /** Two instances admit twice as many requests. */
  'each instance counts for itself': {
    file: '/server/src/limits/shared-limit.ts',
    text: 'const isAlone = otherInstances',
    instead: 'const isAlone = true || otherInstances',
  },
  /** The server waits for headers without a limit. */
  'no timeout for headers': {
    file: '/server/src/http/app.ts',
    text: 'headersTimeout: headersArrivalSecondsMax * 1000,',
    instead: 'headersTimeout: 0,',
  },
} as const satisfies Record<string, Fault>

export type FaultName = keyof typeof faults

/** Returns the Node option that plants a fault. */
export function planting(fault: FaultName): string {
  const file = new URL(import.meta.url)
  file.search = new URLSearchParams({ fault }).toString()
  return `--import=${file.href}`
}

const asked = new URL(import.meta.url).searchParams.get('fault')
if (asked !== null) {
  const fault = (faults as Record<string, Fault>)[asked]
  if (fault === undefined) throw new Error(`Unknown fault: ${asked}.`)
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (!url.endsWith(fault.file)) return loaded
      const source = String(loaded.source)
      if (!source.includes(fault.text))
        throw new Error(`${fault.file} does not contain the text that the fault "${asked}" replaces.`)
      return { ...loaded, source: source.replace(fault.text, () => fault.instead) }
    },
  })
}
