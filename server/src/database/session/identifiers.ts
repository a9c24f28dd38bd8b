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
  /** Which lane of the installation has the public number, had it been made here: the way back. */
  laneNumber(laneId: number): number
  requestNumber(requestId: number): number
}

/** @param key 32 random bytes kept with the installation. */
export function identifiers(key: Buffer): Identifiers {
  const lanes = permutation(key, 1)
  const requests = permutation(key, 2)
  return {
    laneId: lanes.there,
    requestId: requests.there,
    laneNumber: lanes.back,
    requestNumber: requests.back,
  }
}

interface Permutation {
  there(sequenceNumber: number): number
  back(identifier: number): number
}

function permutation(key: Buffer, purpose: number): Permutation {
  const nonce = Buffer.alloc(16)
  nonce[0] = purpose
  const stream = createCipheriv('aes-256-ctr', key, nonce).update(Buffer.alloc(rounds * (halfMask + 1) * 4))
  const table = new Uint32Array(stream.buffer, stream.byteOffset, rounds * (halfMask + 1)).map(
    (word) => word & halfMask,
  )
  const mixedIn = (round: number, half: number) => table[round * (halfMask + 1) + half] ?? 0
  const halves = (number: number): [left: number, right: number] => {
    if (!Number.isSafeInteger(number) || number < 0 || number > identifierMax) {
      throw new RangeError(`${number} is neither a sequence number nor an identifier.`)
    }
    return [Math.floor(number / (halfMask + 1)), number & halfMask]
  }
  return {
    there(sequenceNumber) {
      let [left, right] = halves(sequenceNumber)
      for (let round = 0; round < rounds; round++) [left, right] = [right, left ^ mixedIn(round, right)]
      return left * (halfMask + 1) + right
    },
    back(identifier) {
      let [left, right] = halves(identifier)
      for (let round = rounds - 1; round >= 0; round--) [left, right] = [right ^ mixedIn(round, left), left]
      return left * (halfMask + 1) + right
    },
  }
}
