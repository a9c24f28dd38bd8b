import { crc32 } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { problems } from '#contract/errors.ts'
import {
  secretOverlapHoursDefault,
  secretOverlapHoursMax,
  signatureToleranceSeconds,
} from '#contract/limits.ts'
import { secretForm, signatureForm, timestampForm } from '#contract/signature.ts'
import { defaultScope, tokenScopes } from '#contract/token-scopes.ts'
import { newSigningSecret } from '#server/security/index.ts'
import { readSignatureHeaders, signatureOf, verifySignature } from '#server/signing/index.ts'
import { type Integration, makeIntegration, makeQuote } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { type CodeLanguage, exportLines, shipmentUpdateCode } from '../dashboard/src/code-samples/index.ts'
import { codeBlocks, has, run, tableRows } from './page.ts'
import { textOf } from './repository.ts'

const page = 'docs/signing.md'
const tokens = 'docs/tokens.md'

interface Vector {
  readonly name: string
  readonly secret: string
  readonly timestamp: string
  /** The method and path, if the endpoint signs them. */
  readonly address?: string
  readonly body: string
  readonly signature: string
}
const { vectors } = JSON.parse(textOf('docs/signing-vectors.json')) as { vectors: readonly Vector[] }

describe('the test vectors', () => {
  test.each(vectors)('$name', async ({ secret, timestamp, address: written, body, signature }) => {
    const [method = '', path = ''] = written?.split(' ') ?? []
    const address = written === undefined ? null : { method, path }
    const request = { timestamp, address, bodyBytes: Buffer.from(body) }
    expect(`sha256=${signatureOf(secret, request).toString('hex')}`).toBe(signature)
    const { digest } = readSignatureHeaders({ timestamp, signature })
    const signed = { ...request, digest }
    const now = Number(timestamp) * 1000
    const verified = await verifySignature(signed, [{ plaintext: secret }], now)
    expect(verified.secret).toEqual({ plaintext: secret })
  })

  test('have different signatures', () => {
    expect(new Set(vectors.map(({ signature }) => signature)).size).toBe(vectors.length)
  })

  test('use secrets in the documented format, like all secrets that the service generates', () => {
    const secrets = [...vectors.map(({ secret }) => secret), ...Array.from({ length: 100 }, newSigningSecret)]
    for (const secret of secrets) {
      expect(secret).toMatch(secretForm)
      expect(fromBase62(secret.slice(-6))).toBe(crc32(secret.slice('lwsec_'.length, -6)))
    }
  })
})

function fromBase62(text: string): number {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  return [...text].reduce((value, digit) => value * 62 + alphabet.indexOf(digit), 0)
}

describe('docs/signing.md', () => {
  const text = textOf(page).replaceAll(/\s+/g, ' ')

  test('lists the formats that the service checks', () => {
    for (const form of [secretForm, signatureForm, timestampForm])
      expect(text).toContain(`\`${form.source}\``)
  })

  test('lists the scopes of tokens with the words of the contract', () => {
    expect(tableRows(tokens, 'Scopes of a service token')).toEqual(
      Object.entries(tokenScopes).map(([name, { permits }]) => [name, permits]),
    )
    expect(textOf(tokens)).toContain(`Without \`scope\`, the token has \`${defaultScope}\``)
  })

  test('lists the limits that the service applies', () => {
    expect(text).toContain(`${signatureToleranceSeconds} seconds from the server's clock`)
    expect(text).toContain(`(${secretOverlapHoursDefault} by default, 0 to ${secretOverlapHoursMax})`)
  })

  test('lists every reason why a signature is refused', () => {
    const listed = tableRows(page, 'When it is refused').map(([code]) => code)
    const signing = Object.keys(problems).filter((code) => /^(signature|timestamp)-/.test(code))
    expect(listed.toSorted()).toEqual(signing.toSorted())
  })
})

describe('the programs in docs/signing.md', () => {
  let app: TestApp
  let integration: Integration

  beforeAll(async () => {
    app = await sharedApp()
    integration = await makeIntegration(app)
  })

  const base = 'http://127.0.0.1:8080'
  const booking = { laneRef: '48211093754-1-1', customerRate: 2150, truckCost: 1820.5 }

  test('are those that the dashboard shows, for an example quote', () => {
    const curl = shipmentUpdateCode('curl', base, booking)
    expect(codeBlocks(page, 'sh')).toEqual([`${exportLines({ token: null, secret: null })}\n`, `${curl}\n`])
    expect(codeBlocks(page, 'python')).toEqual([`${shipmentUpdateCode('python', base, booking)}\n`])
    expect(codeBlocks(page, 'ts')).toEqual([`${shipmentUpdateCode('typescript', base, booking)}\n`])
  })

  async function pushes(language: CodeLanguage, command: string, args: readonly string[]) {
    const quote = await makeQuote(app, integration.tenant)
    const input = shipmentUpdateCode(language, app.url, { ...booking, laneRef: quote.lane_ref })
    const env = { LANEWISE_TOKEN: integration.token, LANEWISE_SECRET: integration.secret }
    app.now = Date.now()
    const { output, complaint } = await run(command, args, { input, env })
    expect(complaint).toBe('')
    const [answer = '', status] = output.trim().split('\n')
    expect(JSON.parse(answer)).toEqual({ status: 'ok', lane_id: quote.lane_id, updated: true })
    expect(status).toBe('HTTP 200')
  }

  test.skipIf(!has('curl', 'openssl'))('push a booking with curl and openssl', () =>
    pushes('curl', 'bash', ['-euo', 'pipefail']),
  )

  test.skipIf(!has('python3'))('push a booking with Python', { tags: 'long' }, () =>
    pushes('python', 'python3', ['-']),
  )

  test('push a booking with TypeScript', { tags: 'long' }, () =>
    pushes('typescript', process.execPath, ['--input-type=module-typescript', '-']),
  )
})
