import { hash } from 'node:crypto'
import type { ImportedBooking, ImportedQuote } from './rows.ts'

/** Prefixes of digests. They differ, so that an id never matches a row with the same text. */
const idDomain = 'lanewise import id\n'
const bookingDomain = 'lanewise import booking\n'
const rowDomain = 'lanewise import row\n'

/** An id that several rows of a file have. Lines are those of the file. */
export interface SharedId {
  readonly id: string
  readonly first: number
  readonly last: number
  readonly rows: number
  /** Whether so many rows have the id that it names no single load. Only its first row is read. */
  readonly namesNone: boolean
}

export type Identity =
  /**
   * The identity of a row. For a row with an id, `said` is a digest of its values, and of those of the rows with this id before it, of
   * which `after` is the line of the last. Without an id, the fingerprint is that digest.
   */
  | { readonly fingerprint: Buffer; readonly said: string | null; readonly after: number | null }
  /** The row before it with the same id has the same values, or the id names no single load. */
  | { readonly sameIdAt: number; readonly saysTheSame: boolean }

/**
 * Identifies the rows of a file, within the file and in later files.
 *
 * A row with an id is identified by the id, whatever its other values. A row without one is identified by its values and
 * by the number of equal rows before it: two equal loads in one file are two quotes, and importing the file again adds
 * none. Rows must be passed in the order of the file; `shared` is the id of a row that other rows have, too.
 */
export function rowIdentities(): (row: ImportedQuote, line: number, shared?: SharedId) => Identity {
  const before = new Map<SharedId, { readonly line: number; readonly own: string; readonly said: string }>()
  const seen = new Map<string, number>()
  return (row, line, shared) => {
    // The digest of the row's values. It is also the fingerprint of the first row without an id that has them.
    const digested = rowDigest(row, 1)
    if (row.reference !== null) {
      const own = shortDigest(digested)
      const earlier = shared === undefined ? undefined : before.get(shared)
      if (earlier !== undefined && (earlier.own === own || shared?.namesNone === true)) {
        return { sameIdAt: earlier.line, saysTheSame: earlier.own === own }
      }
      const said = earlier === undefined ? own : shortDigest(digest(`${rowDomain}${earlier.said}\n${own}`))
      if (shared !== undefined) before.set(shared, { line, own, said })
      return { fingerprint: fingerprintOfId(row.reference), said, after: earlier?.line ?? null }
    }
    const key = digested.toString('latin1', 0, 12)
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    return { fingerprint: count === 1 ? digested : rowDigest(row, count), said: null, after: null }
  }
}

/** A short form of the digest of an id, for a map of many ids. */
export const idKey = (id: string): string => fingerprintOfId(id).toString('latin1', 0, 12)

/** The fingerprint of a row with this id, which is also the external_id of a push of the same load. */
export function fingerprintOfId(id: string): Buffer {
  return digest(idDomain + id)
}

/** The identity that earlier versions gave a row whose id is a text such as N/A; null for other rows. */
export function formerIdentity({ formerly }: ImportedQuote): FormerIdentity | null {
  if (formerly === null) return null
  const { reference, said } = formerly
  return { fingerprint: fingerprintOfId(reference), said: shortDigest(rowDigest({ said }, 1)) }
}
export interface FormerIdentity {
  readonly fingerprint: Buffer
  readonly said: string
}

/** The digest of a row with a lane_ref. */
export function bookingSaid({ said }: ImportedBooking): string {
  return shortDigest(digest(bookingDomain + said))
}

/** 128 bits: rows with different values have different digests. */
function shortDigest(digest: Buffer): string {
  return digest.toString('base64url', 0, 16)
}

function rowDigest({ said }: Pick<ImportedQuote, 'said'>, count: number): Buffer {
  return digest(`${rowDomain}${said}\n${count}`)
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
