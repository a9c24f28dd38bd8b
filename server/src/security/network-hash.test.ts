import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { networkHash } from './network-hash.ts'
import { type SecretKey, secretKey } from './sealed-secret.ts'

const key = () => secretKey(randomBytes(32).toString('base64')) as SecretKey

test('the hash of a network differs between keys, people and networks, and is otherwise the same', () => {
  const [ours, theirs] = [key(), key()]
  const hashes = [
    networkHash(ours, '7 1', '192.0.2.7'),
    networkHash(ours, '7 1', '192.0.2.7'),
    networkHash(theirs, '7 1', '192.0.2.7'),
    networkHash(ours, '7 2', '192.0.2.7'),
    networkHash(ours, '8 1', '192.0.2.7'),
    networkHash(ours, '7 1', '192.0.2.8'),
  ].map((hash) => hash.toString('hex'))
  expect(new Set(hashes).size).toBe(hashes.length - 1)
  expect(hashes[1]).toBe(hashes[0])
})
