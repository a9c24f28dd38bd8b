import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** What an authenticator is told to do wrong. */
interface Wrong {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly unverified?: boolean
  readonly count?: number
  /** Signs with a key of its own. */
  readonly key?: KeyObject
  readonly format?: string
}

const text = (value: string) => {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([0x60 + bytes.length]), bytes])
}
const binary = (bytes: Buffer) => {
  const head =
    bytes.length < 256
      ? Buffer.from([0x58, bytes.length])
      : Buffer.from([0x59, bytes.length >> 8, bytes.length & 255])
  return Buffer.concat([head, bytes])
}
const hash = (value: string) => createHash('sha256').update(value).digest()

/** An authenticator that keeps one passkey (ECDSA with P-256), as a browser and it answer a site together. */
export class Authenticator {
  readonly id = randomBytes(16).toString('base64url')
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly #origin: string
  count = 0
  userHandle = ''

  constructor(origin: string) {
    this.#origin = origin
  }

  /** Makes its passkey for the options of a site. */
  create(options: { challenge: string; rp: { id: string }; user: { id: string } }, wrong: Wrong = {}) {
    this.userHandle = options.user.id
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' })
    const publicKey = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      binary(Buffer.from(x, 'base64url')),
      Buffer.from([0x22]),
      binary(Buffer.from(y, 'base64url')),
    ])
    const id = Buffer.from(this.id, 'base64url')
    const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, publicKey])
    const data = Buffer.concat([this.#data(wrong.rpId ?? options.rp.id, 0x40, wrong), credential])
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      ...[text('fmt'), text(wrong.format ?? 'none'), text('attStmt'), Buffer.from([0xa0])],
      ...[text('authData'), binary(data)],
    ])
    return {
      id: this.id,
      response: {
        clientDataJSON: this.#clientData('webauthn.create', wrong.challenge ?? options.challenge, wrong),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      },
    }
  }

  /** Uses its passkey for the options of a site. */
  get(options: { challenge: string; rpId: string }, wrong: Wrong = {}) {
    this.count = wrong.count ?? this.count + 1
    const data = this.#data(wrong.rpId ?? options.rpId, 0, wrong)
    const clientDataJSON = this.#clientData('webauthn.get', wrong.challenge ?? options.challenge, wrong)
    const signed = Buffer.concat([data, hash(Buffer.from(clientDataJSON, 'base64url').toString())])
    return {
      id: this.id,
      response: {
        clientDataJSON,
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', signed, wrong.key ?? this.#keys.privateKey).toString('base64url'),
        userHandle: this.userHandle,
      },
    }
  }

  #data(rpId: string, flags: number, wrong: Wrong): Buffer {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(this.count)
    return Buffer.concat([
      hash(rpId),
      Buffer.from([flags + (wrong.unverified === true ? 0x01 : 0x05)]),
      count,
    ])
  }

  #clientData(type: string, challenge: string, wrong: Wrong): string {
    const origin = wrong.origin ?? this.#origin
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })).toString('base64url')
  }
}
