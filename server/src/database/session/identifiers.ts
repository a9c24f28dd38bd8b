import { createCipheriv } from 'node:crypto'

/**
 * Public identifiers that are unique across all tenants and do not reveal how many exist.
 *
 * A database sequence yields 0, 1, 2, ... A keyed permutation of 36 bits maps each number to one that looks random: four
 * Feistel rounds over 18-bit halves, with tables filled by AES in counter mode as round functions. A permutation never
 * maps two numbers to the same one, so uniqueness needs no lookup across tenants. 36 bits allow 68 billion quotes.
 */
const halfBits = 18
const halfMask = 2 ** halfBits - 1
const rounds = 4
export const identifierMax = 2 ** (2 * halfBits) - 1

export interface Identifiers {
  /** The public id of the nth quote of the installation. */
  quoteId(sequenceNumber: number): number
  requestId(sequenceNumber: number): number
  /** The inverse of `quoteId`: the sequence number of a public id. */
  laneNumber(quoteId: number): number
  requestNumber(requestId: number): number
}

/** @param key 32 random bytes, saved when the installation was made */
export function identifiers(key: Buffer): Identifiers {
  const lanes = permutation(key, 1)
  const requests = permutation(key, 2)
  return {
    quoteId: lanes.encode,
    requestId: requests.encode,
    laneNumber: lanes.decode,
    requestNumber: requests.decode,
  }
}

interface Permutation {
  encode(sequenceNumber: number): number
  decode(identifier: number): number
}

function permutation(key: Buffer, purpose: number): Permutation {
  const nonce = Buffer.alloc(16)
  nonce[0] = purpose
  const stream = createCipheriv('aes-256-ctr', key, nonce).update(Buffer.alloc(rounds * (halfMask + 1) * 4))
  const table = new Uint32Array(stream.buffer, stream.byteOffset, rounds * (halfMask + 1))
  const roundOf = (round: number, half: number) => (table[round * (halfMask + 1) + half] ?? 0) & halfMask
  const halves = (number: number): [left: number, right: number] => {
    if (!Number.isSafeInteger(number) || number < 0 || number > identifierMax) {
      throw new RangeError(`${number} is neither a sequence number nor an identifier.`)
    }
    return [Math.floor(number / (halfMask + 1)), number & halfMask]
  }
  return {
    encode(sequenceNumber) {
      let [left, right] = halves(sequenceNumber)
      for (let round = 0; round < rounds; round++) [left, right] = [right, left ^ roundOf(round, right)]
      return left * (halfMask + 1) + right
    },
    decode(identifier) {
      let [left, right] = halves(identifier)
      for (let round = rounds - 1; round >= 0; round--) [left, right] = [right ^ roundOf(round, left), left]
      return left * (halfMask + 1) + right
    },
  }
}
