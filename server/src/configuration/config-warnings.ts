import { statSync } from 'node:fs'
import { isIP } from 'node:net'
import { editDistance } from '#geography/edit-distance.ts'

/** Variables of earlier versions, and why nothing is lost without them. */
const formerVariables = {
  REDIS_URL: 'Instances share the rate limit in the database.',
  DATABASE_REPLICA_URL: 'Each process keeps the quotes in memory, and reads the rest from DATABASE_URL.',
} as const

/** What `configWarnings` examines. */
export interface Configured {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The names of all variables that the service reads. */
  readonly known: ReadonlySet<string>
  readonly trustProxy: readonly string[]
  readonly keyFiles: readonly string[]
}

/**
 * One sentence for each setting that the service accepts, but that is probably a mistake: a variable that is no longer used or
 * whose name is misspelled, a proxy network that includes strangers, a key that every account of the machine can read.
 *
 * @example configWarnings({ env: { METRICS_PROT: '9464' }, ... }) // ['METRICS_PROT is unknown: is METRICS_PORT meant?']
 */
export function configWarnings({ env, known, trustProxy, keyFiles }: Configured): string[] {
  const set = Object.keys(env).filter((name) => (env[name] ?? '') !== '')
  return [
    ...Object.entries(formerVariables).flatMap(([name, why]) =>
      set.includes(name) ? [`${name} is no longer used: remove it. ${why}`] : [],
    ),
    ...set.flatMap((name) => {
      const meant = known.has(name) ? null : nearestName(name, known)
      return meant === null ? [] : [`${name} is unknown: is ${meant} meant?`]
    }),
    ...trustProxy
      .filter(includesStrangers)
      .map(
        (network) =>
          `TRUST_PROXY trusts ${network}: whoever connects from there chooses the address that its requests are counted and logged under. Name only the network of your proxies.`,
      ),
    ...keyFiles
      .filter(isReadableByAll)
      .map((file) => `Every account of this machine can read ${file}: run chmod 600 on it.`),
  ]
}

/** Names with fewer letters resemble variables of other programs. */
const nameLettersMin = 8

function nearestName(name: string, known: ReadonlySet<string>): string | null {
  if (name.length < nameLettersMin || !/^[A-Z][A-Z0-9_]*$/.test(name)) return null
  const near = [...known]
    .filter((one) => one.length >= nameLettersMin)
    .map((one) => {
      const most = one.length > 10 ? 3 : 2
      return { one, edits: editDistance(name, one, most), most }
    })
    .filter(({ edits, most }) => edits <= most)
    .sort((a, b) => a.edits - b.edits)
  return near[0]?.one ?? null
}

/** Larger networks than a private one, such as 10.0.0.0/8, belong to many owners. */
function includesStrangers(network: string): boolean {
  const [address = '', prefix] = network.split('/')
  return prefix !== undefined && Number(prefix) < (isIP(address) === 4 ? 8 : 7)
}

function isReadableByAll(path: string): boolean {
  try {
    return (statSync(path).mode & 0o004) !== 0
  } catch {
    // The configuration reports a missing file.
    return false
  }
}
