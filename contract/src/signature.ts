/** The signature of a write, said once for the signer and the verifier. */

export const timestampHeader = 'x-service-timestamp'
export const signatureHeader = 'x-service-signature'
export const signaturePrefix = 'sha256='

/** Decimal seconds only. Anything looser lets a dot in, and then two requests can share one signing text. */
export const timestampForm = /^[1-9][0-9]{0,11}$/
export const signatureForm = /^sha256=[0-9a-f]{64}$/

/** A plaintext secret: fixed prefix, 32 random bytes and 6 characters of CRC-32, in base 62. Scanners can look for it. */
export const secretForm = /^lwsec_[0-9A-Za-z]{49}$/
