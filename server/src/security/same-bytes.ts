import { randomBytes, timingSafeEqual } from 'node:crypto'

/** Whether two texts or byte strings are the same, in a time that depends on their lengths only. */
export function sameBytes(one: string | Uint8Array, other: string | Uint8Array): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * A text of random letters.
 *
 * @param letters 32 of them, so that each has five random bits
 */
export function randomText(letters: string, length: number): string {
  return [...randomBytes(length)].map((byte) => letters[byte % letters.length]).join('')
}
