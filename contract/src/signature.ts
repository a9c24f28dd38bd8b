/** The format of write signatures, shared by the signer and the verifier. */

export const timestampHeader = 'x-service-timestamp'
export const signatureHeader = 'x-service-signature'
export const signaturePrefix = 'sha256='

/** Decimal seconds only. If a dot were allowed, two different requests could have the same signed text. */
export const timestampForm = /^[1-9][0-9]{0,11}$/
export const signatureForm = /^sha256=[0-9a-f]{64}$/

/** A plaintext secret: a fixed prefix that secret scanners can detect, then 32 random bytes and a CRC-32 in base 62. */
export const secretForm = /^lwsec_[0-9A-Za-z]{49}$/
