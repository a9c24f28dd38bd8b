/** The format of write signatures, shared by the signer and the verifier. */

/** The signed text after the timestamp: the body only, or also the method and path of the request. */
export type Signs = 'body' | 'address and body'

/** The method of a signed request, and its path with the query, as sent and without the base URL. */
export interface SignedAddress {
  readonly method: string
  readonly path: string
}

/**
 * The signed text up to the body. Neither form can be read as the other: a timestamp has only digits, so the first dot
 * ends it, and a JSON body begins with `{` or white space, never with a method. A path has no line feed, so the first line
 * feed ends the address.
 *
 * @example textBeforeBody('1772373600', null) // '1772373600.'
 * @example textBeforeBody('1772373600', { method: 'POST', path: '/a' }) // '1772373600.POST /a\n'
 */
export function textBeforeBody(timestamp: string, address: SignedAddress | null): string {
  return address === null ? `${timestamp}.` : `${timestamp}.${address.method} ${address.path}\n`
}

export const timestampHeader = 'x-service-timestamp'
export const signatureHeader = 'x-service-signature'
export const signaturePrefix = 'sha256='

/** Whole seconds. With a dot in the timestamp, two different requests could have the same signed text. */
export const timestampForm = /^[1-9][0-9]{0,11}$/
export const signatureForm = /^sha256=[0-9a-f]{64}$/

/** A plaintext secret: a fixed prefix that secret scanners can detect, then 32 random bytes and a CRC-32 in base 62. */
export const secretForm = /^lwsec_[0-9A-Za-z]{49}$/
