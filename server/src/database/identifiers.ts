import { createCipheriv } from 'node:crypto'

/**
 * Numbers that are unique over all tenants and tell nobody how many there are.
 *
 * A database sequence gives 0, 1, 2 ...; a keyed permutation of 36 bits (four Feistel rounds over 18-bit halves, the
 * round functions being tables filled by AES in counter mode) turns each into a number that looks random. A permutation
 * never maps two numbers to one, so uniqueness needs no look-up over all tenants. 36 bits: 68 billion lanes.
 */
const halfBits = 18
const halfMask = 2 ** halfBits - 1
const rounds = 4
export const identifierMax = 2 ** (2 * halfBits) - 1

export interface Identifiers {
  /** The public number of the nth lane of the installation. */
  laneId(sequenceNumber: number): number
  requestId(sequenceNumber: number): number
}

/** @param key 32 random bytes kept with the installation. */
export function identifiers(key: Buffer): Identifiers {
  const lanes = permutation(key, 1)
  const requests = permutation(key, 2)
  return { laneId: lanes, requestId: requests }
}

function permutation(key: Buffer, purpose: number): (sequenceNumber: number) => number {
  const nonce = Buffer.alloc(16)
  nonce[0] = purpose
  const stream = createCipheriv('aes-256-ctr', key, nonce).update(Buffer.alloc(rounds * (halfMask + 1) * 4))
  const table = new Uint32Array(stream.buffer, stream.byteOffset, rounds * (halfMask + 1)).map(
    (word) => word & halfMask,
  )
  return (sequenceNumber) => {
    if (!Number.isSafeInteger(sequenceNumber) || sequenceNumber < 0 || sequenceNumber > identifierMax) {
      throw new RangeError(`No identifier for sequence number ${sequenceNumber}.`)
    }
    let left = Math.floor(sequenceNumber / (halfMask + 1))
    let right = sequenceNumber & halfMask
    for (let round = 0; round < rounds; round++) {
      const mixed = left ^ (table[round * (halfMask + 1) + right] ?? 0)
      left = right
      right = mixed
    }
    return left * (halfMask + 1) + right
  }
}
