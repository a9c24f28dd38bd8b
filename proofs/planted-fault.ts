import { registerHooks } from 'node:module'

/**
 * Plants a fault in a service as it is loaded: `node --import planted-fault.ts?fault=NAME`. The files stay as they are;
 * one text of one module is read as another. A text that is not there any more is an error: a fault that is not planted
 * proves nothing.
 */

interface Fault {
  readonly file: string
  readonly text: string
  readonly instead: string
}

export const faults = {
  /** An idle connection that dies ends the process. */
  'pool without a listener': {
    file: '/server/src/database/session/open-database.ts',
    text: "pool.on('error', (error) => onIdleError?.(error))",
    instead: '',
  },
  /** The same request twice is two requests. */
  'every request is new': {
    file: '/server/src/http/serve-endpoint.ts',
    text: '.update(bodyBytes).digest(),',
    instead: '.update(String(Math.random())).digest(),',
  },
  /** A stop ends the process there and then. */
  'exit at once': {
    file: '/server/src/main.ts',
    text: 'const stop = (signal: NodeJS.Signals) => {',
    instead: 'const stop = (signal: NodeJS.Signals) => { process.exit(0);',
  },
  /** An error of the class "insufficient resources" is answered 500. */
  'a full disk is a bug': {
    file: '/server/src/database/session/database-failures.ts',
    text: "new Set(['08', '53', '57', '58', 'XX'])",
    instead: "new Set(['08', '57', '58', 'XX'])",
  },
  /** Ten a second are counted, and nobody is refused. */
  'no limit for a brokerage': {
    file: '/server/src/http/admission.ts',
    text: 'if (!permit.admitted) throw quotaExceeded(permit)',
    instead: 'if (false) throw quotaExceeded(permit)',
  },
  /** Transactions of all brokerages wait in the order they come, and as many run as there are connections. */
  'one line for all brokerages': {
    file: '/server/src/database/session/fair-connections.ts',
    text: 'lend(owner: Owner): Promise<Lent> {',
    instead: 'lend(_: unknown, owner: Owner = null): Promise<Lent> {',
  },
  /** What a file unpacks to is held in memory. */
  'files are unpacked as a whole': {
    file: '/server/src/imports/csv-file.ts',
    text: 'isPacked ? gunzipped(file) : file',
    instead:
      "isPacked ? [await (await import('node:util')).promisify((await import('node:zlib')).gunzip)(Buffer.concat([...file]))] : file",
  },
  /** Two instances let in twice as many. */
  'each instance counts for itself': {
    file: '/server/src/limits/shared-limit.ts',
    text: 'const isAlone = otherInstances',
    instead: 'const isAlone = true || otherInstances',
  },
  /** Node's own way, where nobody sets it otherwise. */
  'headers may take for ever': {
    file: '/server/src/http/app.ts',
    text: 'headersTimeout: headersArrivalSecondsMax * 1000,',
    instead: 'headersTimeout: 0,',
  },
} as const satisfies Record<string, Fault>

export type FaultName = keyof typeof faults

/** The options with which Node plants it. */
export function planting(fault: FaultName): string {
  const file = new URL(import.meta.url)
  file.search = new URLSearchParams({ fault }).toString()
  return `--import=${file.href}`
}

const asked = new URL(import.meta.url).searchParams.get('fault')
if (asked !== null) {
  const fault = (faults as Record<string, Fault>)[asked]
  if (fault === undefined) throw new Error(`There is no fault ${asked}.`)
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (!url.endsWith(fault.file)) return loaded
      const source = String(loaded.source)
      if (!source.includes(fault.text))
        throw new Error(`${fault.file} has not the text of the fault "${asked}".`)
      return { ...loaded, source: source.replace(fault.text, () => fault.instead) }
    },
  })
}
