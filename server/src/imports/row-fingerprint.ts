import { hash } from 'node:crypto'
import type { ImportedBooking, ImportedLane } from './rows.ts'

/** Different first words keep an id apart from a row that happens to read the same. */
const idDomain = 'lanewise import id\n'
const bookingDomain = 'lanewise import booking\n'
const rowDomain = 'lanewise import row\n'

export type Identity =
  /** `said` is a digest of all that the row says, where it is known by an id; any other is its fingerprint. */
  | { readonly fingerprint: Buffer; readonly said: string | null }
  /** An earlier row of this file has the same id: the same row again, or another one under its id. */
  | { readonly sameIdAt: number; readonly saysTheSame: boolean }

/**
 * Tells the rows of one file apart, and knows them again in the next one.
 *
 * A row with an id of its own is known by it, whatever else it says. A row without one is known by all it says and by
 * how many rows before it in the file say the same: two equal loads in one file are two, and the same file again is
 * none. Give it the rows in the order of the file.
 */
export function rowIdentities(): (row: ImportedLane, line: number) => Identity {
  const ids = new Map<string, { line: number; said: string }>()
  const seen = new Map<string, number>()
  return (row, line) => {
    // What the row says, and the fingerprint of the first row in a file that says it.
    const said = rowDigest(row, 1)
    const saidKey = said.toString('latin1', 0, 12)
    if (row.reference !== null) {
      const fingerprint = digest(idDomain + row.reference)
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

/** As `said` of an identity, for a row that names its lane. */
export function bookingSaid({ said }: ImportedBooking): string {
  return shortDigest(digest(bookingDomain + said))
}

/** 128 bits: two rows of one lane that differ have different ones. */
function shortDigest(digest: Buffer): string {
  return digest.toString('base64url', 0, 16)
}

function rowDigest({ said }: ImportedLane, count: number): Buffer {
  return digest(`${rowDomain}${said}\n${count}`)
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
