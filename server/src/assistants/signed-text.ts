import { createHmac } from 'node:crypto'
import { derivedKey, type SecretKey, type SecretKeys, sameBytes } from '../security/index.ts'

const macOf = (key: SecretKey, purpose: string, text: string) =>
  createHmac('sha256', derivedKey(key, purpose)).update(text).digest()

/** The code that shows that this installation made a text for a purpose, in base64url. */
export function codeOf([first]: SecretKeys, purpose: string, text: string): string {
  return macOf(first, purpose, text).toString('base64url')
}

/** Whether any of the installation's keys made the code of a text. */
export function isOurs(keys: SecretKeys, purpose: string, text: string, code: string): boolean {
  const sent = Buffer.from(code, 'base64url')
  return keys.some((key) => sameBytes(macOf(key, purpose, text), sent))
}
