import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { rowIdentities, type SharedId } from './row-fingerprint.ts'
import type { ImportedQuote } from './rows.ts'

function lane(said: string, reference: string | null = null): ImportedQuote {
  return { said, reference } as ImportedQuote
}

/** The fingerprints of a file of these rows. */
function file(...rows: ImportedQuote[]) {
  const identify = rowIdentities()
  return rows.map((row, index) => {
    const identity = identify(row, index + 2)
    return 'fingerprint' in identity ? identity.fingerprint.toString('hex') : identity
  })
}

describe('rowIdentities', () => {
  it('identifies a row by its id, whatever its other values', () => {
    expect(file(lane('pending', 'L1'))).toEqual(file(lane('won', 'L1')))
    expect(file(lane('won', 'L1'))).not.toEqual(file(lane('won', 'L2')))
  })

  it('recognizes the rows of the same file, and tells two equal rows apart', () => {
    const first = file(lane('a'), lane('a'), lane('b'))
    expect(file(lane('b'), lane('a'), lane('a')).sort()).toEqual([...first].sort())
    expect(new Set(first).size).toBe(3)
  })

  it('never confuses an id with a row of the same text', () => {
    expect(file(lane('x', 'a'))).not.toEqual(file(lane('a')))
  })

  it('says which row with the same id comes before, unless that row is equal', () => {
    const identify = rowIdentities()
    const shared: SharedId = { id: 'L1', first: 2, last: 5, rows: 4, namesNone: false }
    const [first, same, other, again] = ['a', 'a', 'b', 'a'].map((said, nth) =>
      identify(lane(said, 'L1'), nth + 2, shared),
    )
    expect(first).toMatchObject({ after: null })
    expect(same).toEqual({ sameIdAt: 2, saysTheSame: true })
    expect(other).toMatchObject({ after: 2 })
    expect(again).toMatchObject({ after: 4 })
    const digests = [first, other, again].map((one) => one !== undefined && 'said' in one && one.said)
    expect(new Set(digests).size).toBe(3)
  })

  it('computes the fingerprints that are stored for earlier imports', () => {
    const kept = (text: string) => createHash('sha256').update(text).digest('hex')
    expect(file(lane('a'), lane('a'), lane('a', 'L1'), lane('b'))).toEqual([
      kept('lanewise import row\na\n1'),
      kept('lanewise import row\na\n2'),
      kept('lanewise import id\nL1'),
      kept('lanewise import row\nb\n1'),
    ])
  })
})
