import { signatureForm, signaturePrefix, timestampForm } from '#contract/signature.ts'

/** A problem and its remedy, one sentence each. */
export interface Finding {
  readonly detail: string
  readonly remedy: string
}

export interface ReadSignature {
  /** Null if the header contains no digest. */
  readonly digest: Buffer | null
  /** Null if the header has the only accepted form. */
  readonly wrong: Finding | null
}

const rightForm = `Send ${signaturePrefix} followed by the 64 hex digits of the HMAC-SHA256 in lowercase, once.`

/** Parses an X-Service-Signature. The digest of a wrong form is read where it is certain, so that other mistakes are found, too. */
export function readAnySignature(header: string): ReadSignature {
  const refused = (detail: string, remedy = rightForm): ReadSignature => ({
    digest: null,
    wrong: { detail, remedy },
  })
  const read = (digest: Buffer, detail: string): ReadSignature => ({
    digest,
    wrong: { detail, remedy: rightForm },
  })
  if (header === '') {
    return refused(
      'The signature is missing.',
      'Send the header X-Service-Signature with every write, and give its value here.',
    )
  }
  const plain = header.replace(/^sha256=/i, '')
  if (signatureForm.test(header)) return { digest: Buffer.from(plain, 'hex'), wrong: null }
  if (/lwsec_/.test(header)) {
    return refused(
      'This is a signing secret, not a signature.',
      'Send the HMAC that is made with the secret, never the secret. If it was sent over a network, rotate it now.',
    )
  }
  if (/^[0-9a-f]{64}$/i.test(plain)) {
    return read(Buffer.from(plain, 'hex'), 'The signature lacks "sha256=" or is in upper case.')
  }
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(plain)) {
    return read(Buffer.from(plain, 'base64'), 'The signature is in base64 instead of hex.')
  }
  return refused(`The signature is not ${signaturePrefix} followed by 64 hex digits.`)
}

/** The mistake in the form of an X-Service-Timestamp. Null if it is a decimal number of seconds. */
export function wrongTimestamp(header: string): Finding | null {
  if (timestampForm.test(header)) return null
  if (header === '') {
    return {
      detail: 'The timestamp is missing.',
      remedy: 'Send the header X-Service-Timestamp with every write, and give its value here.',
    }
  }
  if (/^[1-9]\d{12}$/.test(header)) {
    return {
      detail: 'The timestamp is in milliseconds; it must be in seconds.',
      remedy: 'Divide by 1000 and round down before signing: the clock of JavaScript gives milliseconds.',
    }
  }
  return {
    detail: 'The timestamp is not the Unix time in whole seconds.',
    remedy: 'Send the Unix time in whole seconds as decimal digits, such as 1772373600.',
  }
}
