import { hash } from 'node:crypto'
import type { ImportedBooking, ImportedQuote } from './rows.ts'

/** Prefixes of digests. They differ, so that an id never matches a row with the same text. */
const idDomain = 'lanewise import id\n'
const bookingDomain = 'lanewise import booking\n'
const rowDomain = 'lanewise import row\n'

export type Identity =
  /** The identity of a row. For a row with an id, `said` is a digest of its values. Without an id, the fingerprint is that digest. */
  | { readonly fingerprint: Buffer; readonly said: string | null }
  /** An earlier row of this file has the same id, with the same values or with other values. */
  | { readonly sameIdAt: number; readonly saysTheSame: boolean }

/**
 * Identifies the rows of a file, within the file and in later files.
 *
 * A row with an id is identified by the id, whatever its other values. A row without one is identified by its values and
 * by the number of equal rows before it: two equal loads in one file are two quotes, and importing the file again adds
 * none. Rows must be passed in the order of the file.
 */
export function rowIdentities(): (row: ImportedQuote, line: number) => Identity {
  const ids = new Map<string, { line: number; said: string }>()
  const seen = new Map<string, number>()
  return (row, line) => {
    // The digest of the row's values. It is also the fingerprint of the first row without an id that has them.
    const said = rowDigest(row, 1)
    const saidKey = said.toString('latin1', 0, 12)
    if (row.reference !== null) {
      const fingerprint = fingerprintOfId(row.reference)
      const key = fingerprint.toString('latin1', 0, 12)
      const earlier = ids.get(key)
      if (earlier !== undefined) return { sameIdAt: earlier.line, saysTheSame: earlier.said === saidKey }
      ids.set(key, { line, said: saidKey })
      return { fingerprint, said: shortDigest(said) }
    }
    const count = (seen.get(saidKey) ?? 0) + 1
    seen.set(saidKey, count)
    return { fingerprint: count === 1 ? said : rowDigest(row, count), said: null }
  }
}

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
