import { signatureForm, signaturePrefix, timestampForm } from '#contract/signature.ts'

/** A problem and its remedy, one sentence each. */
export interface Finding {
  readonly detail: string
  readonly remedy: string
}

/** Common hash functions by the length of their digest in bytes. */
const hashes: Readonly<Record<number, string>> = {
  16: 'md5',
  20: 'sha1',
  28: 'sha224',
  32: 'sha256',
  48: 'sha384',
  64: 'sha512',
}

export interface ReadSignature {
  /** Null if the header contains no digest. */
  readonly digest: Buffer | null
  /** The name of a hash function with digests of this length. */
  readonly hash: string
  /** Null if the header has the only accepted form. */
  readonly wrong: Finding | null
}

const rightForm = 'Send sha256= followed by the 64 hex digits of the HMAC in lowercase.'

/** Parses an X-Service-Signature in any form that people write, and reports what is wrong with its form. */
export function readAnySignature(header: string): ReadSignature {
  const refused = (detail: string, remedy = rightForm): ReadSignature => ({
    digest: null,
    hash: 'sha256',
    wrong: { detail, remedy },
  })
  if (header === '') {
    return refused(
      'The signature is missing.',
      'Send the header X-Service-Signature with every write, and give its value here.',
    )
  }
  if (signatureForm.test(header)) {
    return {
      digest: Buffer.from(header.slice(signaturePrefix.length), 'hex'),
      hash: 'sha256',
      wrong: null,
    }
  }
  if (/lwsec_/.test(header)) {
    return refused(
      'This is a signing secret, not a signature.',
      'Send the HMAC that is made with the secret, never the secret. If it was sent over a network, rotate it now.',
    )
  }
  if (header.includes(',')) {
    return refused(
      'There are several values, separated by commas: the header was sent twice, or has the form of another scheme.',
      `Send the header once. ${rightForm}`,
    )
  }
  const plain = header.replaceAll(/["']/g, '')
  const [name = ''] = /^(?:[A-Za-z0-9_-]{1,12}=(?=.)|[A-Za-z0-9-]{1,12}[ :])/s.exec(plain) ?? []
  const rest = plain.slice(name.length).trimStart()
  const wrong = [
    ...(plain === header ? [] : ['it is in quotes']),
    ...(name === signaturePrefix
      ? []
      : [name === '' ? 'it lacks "sha256="' : 'it does not begin with "sha256=", in lowercase']),
  ]
  const isHex = /^[0-9a-fA-F]+$/.test(rest)
  if (isHex && (rest.length % 2 === 1 || hashes[rest.length / 2] === undefined)) {
    return refused(
      `The signature has ${rest.length} hex digits; it must have 64. Was all of it copied, and nothing else?`,
    )
  }
  const found = readDigest(rest) ?? readDigest(plain)
  if (found === null) return refused('The signature is neither hex digits nor base64.')
  const { digest, how } = found
  const hash = hashes[digest.length]
  if (hash === undefined) {
    return refused(
      `The signature is neither 64 hex digits nor 32 bytes in base64 (read as base64 it is ${digest.length} bytes).`,
    )
  }
  if (hash !== 'sha256') {
    const spoken = hash.toUpperCase().replace('SHA', 'SHA-')
    return {
      digest,
      hash,
      wrong: {
        detail: `The signature is as long as one made with ${spoken}: ${digest.length} bytes, where SHA-256 gives 32.`,
        remedy: `Use HMAC with SHA-256. ${rightForm}`,
      },
    }
  }
  const all = [...wrong, ...how]
  return {
    digest,
    hash,
    wrong: { detail: `The form of the signature is wrong: ${all.join(', and ')}.`, remedy: rightForm },
  }
}

/** The bytes of a digest in base64, or in lower-case or upper-case hex, and what is wrong with its form. */
function readDigest(text: string): { digest: Buffer; how: string[] } | null {
  if (/^[0-9a-fA-F]+$/.test(text)) {
    const digest = Buffer.from(text, 'hex')
    return { digest, how: /[A-F]/.test(text) ? ['its hex digits are in upper case'] : [] }
  }
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return null
  const bytes = Buffer.from(text, 'base64')
  const asText = bytes.toString('latin1')
  if (/^[0-9a-f]{64}$/i.test(asText)) {
    return { digest: Buffer.from(asText, 'hex'), how: ['its hex digits are encoded once more, in base64'] }
  }
  return { digest: bytes, how: ['it is in base64 instead of hex'] }
}

const inSeconds = 'Send the Unix time in whole seconds as decimal digits, such as 1772373600.'

/** What is wrong with the form of an X-Service-Timestamp. Null if it is a decimal number of seconds. */
export function wrongTimestamp(header: string): Finding | null {
  if (timestampForm.test(header)) return null
  const found = (detail: string, remedy = inSeconds): Finding => ({ detail, remedy })
  if (header === '') {
    return found(
      'The timestamp is missing.',
      'Send the header X-Service-Timestamp with every write, and give its value here.',
    )
  }
  if (/^[1-9]\d{12}$/.test(header)) {
    return found(
      'The timestamp is in milliseconds; it must be in seconds.',
      'Divide by 1000 and round down before signing: the clock of JavaScript gives milliseconds.',
    )
  }
  if (/^[1-9]\d{12,}$/.test(header)) {
    return found('The timestamp has too many digits for seconds: it is in micro- or nanoseconds.')
  }
  if (/^\d+[.,]\d*$/.test(header)) {
    return found(
      'The timestamp has a fraction.',
      'Round down to whole seconds before signing, such as str(int(time.time())) in Python.',
    )
  }
  if (/^\d{4}-\d{2}-\d{2}/.test(header) || /\d:\d\d/.test(header)) {
    return found('The timestamp is a date in words, not the Unix time.')
  }
  if (/^0\d+$/.test(header)) return found('The timestamp begins with a zero.')
  return found('The timestamp is not a number of decimal digits.')
}
