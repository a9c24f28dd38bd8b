/** @module-tag long */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodeOfMajor } from '../checks/other-programs.ts'
import { codeBlocks, run } from '../checks/page.ts'
import { root } from '../checks/repository.ts'
import { type ScriptedServer, scriptedServer } from './testing/scripted-server.ts'

/** Tests the published package: packed, installed into an empty project, and imported there. */

let project: string
let server: ScriptedServer
const installed = () => join(project, 'node_modules', 'lanewise-client')

beforeAll(async () => {
  server = await scriptedServer()
  project = mkdtempSync(join(tmpdir(), 'lanewise-client-'))
  execFileSync(process.execPath, [join(root, 'client/build.ts'), join(project, 'built')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const npm = (...args: string[]) =>
    execFileSync('npm', args, { cwd: project, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const packed = npm('pack', join(project, 'built')).trim().split('\n').at(-1) ?? ''
  writeFileSync(join(project, 'package.json'), '{"private": true, "type": "module"}')
  npm('install', '--offline', '--no-audit', '--no-fund', `./${packed}`)
})
afterAll(async () => {
  rmSync(project, { recursive: true, force: true })
  await server.close()
})

const program = `
import { Lanewise, isLanewiseFailure } from 'lanewise-client'
const lanewise = new Lanewise({ baseUrl: process.argv[2], token: 'made-up', secret: 'made-up', patience: { firstWaitMs: 1 } })
console.log(JSON.stringify(await lanewise.shipmentUpdate({ lane_ref: '7-1-1', truck_cost: 1820.5 })))
const gone = new Lanewise({ baseUrl: 'http://127.0.0.1:1', patience: { retries: 0 } })
await gone.markup({ origin: 'A, TX', destination: 'B, TX', proposed_rate: 1 }).catch((error) => {
  console.log(isLanewiseFailure(error) && error.code)
})
`

describe('the packed package', () => {
  test('has no dependencies, the expected files and a limited size', () => {
    const manifest = JSON.parse(readFileSync(join(installed(), 'package.json'), 'utf8'))
    expect(manifest).toMatchObject({
      name: 'lanewise-client',
      type: 'module',
      sideEffects: false,
      license: 'MIT',
    })
    expect(manifest.dependencies).toBeUndefined()
    expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      'lanewise-client',
    ])
    const files = readdirSync(installed())
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md', 'index.js', 'index.d.ts']),
    )
    const texts = files
      .filter((name) => /\.(js|d\.ts)$/.test(name))
      .map((name) => readFileSync(join(installed(), name), 'utf8'))
    expect(texts.filter((text) => /typebox|node:|#contract|\.ts'/.test(text))).toEqual([])
    const code = readFileSync(join(installed(), 'index.js'))
    const [, kilobytes, compressed] =
      /(\d+) KB, ([\d.]+) KB with gzip/.exec(readFileSync(join(installed(), 'README.md'), 'utf8')) ?? []
    expect(code.length / 1000).toBeLessThan(Number(kilobytes))
    expect(gzipSync(code).length / 1000).toBeLessThan(Number(compressed))
    expect(code.length).toBeLessThan(55_000)
  })

  const runsOn = async (major: number) => {
    const node = nodeOfMajor(major)
    if (typeof node !== 'string') {
      process.stderr.write(`NOT TESTED on Node ${major}: ${node.missing}\n`)
      return
    }
    writeFileSync(join(project, 'use.js'), program)
    server.play(
      { status: 503, body: 'away' },
      { status: 200, body: { status: 'ok', lane_id: 7, updated: true } },
    )
    const { output, complaint } = await run(node, [join(project, 'use.js'), server.url])
    expect(complaint).toBe('')
    expect(output.split('\n')).toEqual(['{"status":"ok","lane_id":7,"updated":true}', 'network', ''])
    expect(server.arrived[1]?.headers['x-service-signature']).toMatch(/^sha256=[0-9a-f]{64}$/)
  }
  test.each([20, 24])('runs on Node %i', runsOn)
  test('runs on Node 22', { tags: 'long' }, () => runsOn(22))
})

describe('without Node APIs', () => {
  test('it needs only fetch, WebCrypto, AbortController, timers and web classes', async () => {
    const code = readFileSync(join(installed(), 'index.js'), 'utf8')
    const edge = {
      fetch,
      crypto,
      AbortController,
      TextEncoder,
      URL,
      URLSearchParams,
      Blob,
      Headers,
      setTimeout,
      clearTimeout,
      performance,
    }
    const world = createContext({ ...edge, made: null })
    runInContext(code.replace(/^export \{[^}]*\};?$/m, 'made = { Lanewise }'), world)
    const { Lanewise } = world.made
    server.play(
      { status: 503, body: 'away' },
      { status: 200, body: { status: 'ok', lane_id: 7, updated: true } },
    )
    const lanewise = new Lanewise({
      baseUrl: server.url,
      token: 'made-up',
      secret: 'made-up',
      patience: { firstWaitMs: 1 },
    })
    expect(await lanewise.shipmentUpdate({ lane_ref: '7-1-1' })).toEqual({
      status: 'ok',
      lane_id: 7,
      updated: true,
    })
  })
})

const typed = `
import { Lanewise, isLanewiseFailure, debounce, type Answer, type FailureCode } from 'lanewise-client'
const lanewise = new Lanewise({ baseUrl: 'https://lanewise.example.com', token: async () => 'x' })
const advice = await lanewise.markup({ origin: 'Dallas, TX', destination: 'Atlanta, GA', proposed_rate: 2150 })
if (advice.found) {
  const probability: number | null = advice.win_probability
  const confidence: 'high' | 'medium' | 'low' | 'none' = advice.confidence
  console.log(probability, confidence, advice.rate_band.median)
}
// @ts-expect-error: a response without data has no suggested rate
console.log(advice.suggested_rate)
// @ts-expect-error: a rate is a number
void lanewise.markup({ origin: 'Dallas, TX', destination: 'Atlanta, GA', proposed_rate: '2150' })
// @ts-expect-error: there is no such operation
void lanewise.call('list-trucks', {})
const { lanes }: Answer<'list-quotes'> = await lanewise.call('list-quotes', { query: { outcome: 'pending' } })
const margin: number | null | undefined = lanes[0]?.margin
const ask = debounce((rate: number, signal) => lanewise.laneInsight({ origin: 'A, TX', destination: 'B, TX' }, { signal }))
const scope: 'equipment' | 'corridor' | 'market' | 'state_pair' | 'region' | 'tenant' | false | undefined = await ask(1).then((found) => found?.found && found.scope)
function told(error: unknown): string {
  if (!isLanewiseFailure(error)) return 'other'
  switch (error.code) {
    case 'network': case 'timeout': case 'aborted': { const none: null = error.status; return String(none) }
    case 'not-json': return String(error.status.toFixed())
    case 'invalid-argument': case 'invalid-configuration': case 'credential-unavailable': case 'unexpected': return String(error.cause)
    case 'validation-failed': return error.errors.map(({ detail }) => detail).join()
    // @ts-expect-error: no problem has this code
    case 'no-such-code': return ''
    default: { const code: FailureCode = error.code; return code + error.problem.type }
  }
}
export { margin, scope, told }
`

/** Serializers and forms may produce null and undefined for absent fields. */
const withAbsent = `
import { Lanewise, type AnswerMeta, type Body, type LanewiseOptions, type Query } from 'lanewise-client'
declare const maybe: string | undefined
declare const rate: number | null | undefined
const options: LanewiseOptions = {
  baseUrl: 'https://lanewise.example.com', token: maybe, secret: maybe, patience: undefined, cache: undefined,
  rateLimit: undefined, strict: undefined, onEvent: undefined, fetch: undefined, forgetAfterWrite: undefined,
}
const lanewise = new Lanewise({ ...options, patience: { retries: undefined, timeoutMs: 5_000 } })
const call = { signal: undefined, timeoutMs: undefined, cache: undefined, isRepeatable: undefined, strict: undefined }
const update: Body<'shipment-update'> = { lane_ref: '7-1-1', customer_rate: rate, truck_cost: null, carrier_mc: undefined, booked_at: maybe }
const query: Query<'markup'> = { origin: 'Dallas, TX', destination: 'Atlanta, GA', proposed_rate: 2150, equipment: null, market_rate: rate }
const { data, meta } = await lanewise.shipmentUpdate(update, call).withMeta()
const applied: boolean = data.updated
const state: AnswerMeta = meta
const left: number | undefined = meta.rateLimit?.remaining
await lanewise.markup(query)
const lanes: readonly { origin: string; destination: string; proposed_rate: number | null | undefined }[] = []
await lanewise.insightBatch({ lanes, answers: undefined })
await lanewise.call('create-quote-request', {
  body: { customer_name: 'Harvest', reference: maybe, lanes: [{ origin: 'A, TX', destination: 'B, TX', equipment: 'V', quoted_rate: 1, estimated_cost: null }] },
  query: undefined,
})
await lanewise.call('list-quotes', { query: { outcome: undefined, origin: maybe, limit: null } })
// @ts-expect-error: a required member cannot be null
void lanewise.shipmentUpdate({ lane_ref: null })
// @ts-expect-error: a required member cannot be undefined
void lanewise.markup({ ...query, origin: maybe })
// @ts-expect-error: an unknown name
void lanewise.shipmentUpdate({ lane_ref: '7-1-1', custommer_rate: 2150 })
export { applied, left, state }
`

/** True if every operation and webhook has the same types in the package as in the contract; false if a difference was planted. */
const compared = `
import type { Operations, Webhooks } from '../../src/wire.ts'
import type { Operations as Published, Webhooks as PublishedWebhooks } from './published.d.ts'
import type { Webhooks as OtherWebhooks } from './other-webhook.d.ts'
import type { Operations as OtherAnswer } from './other-answer.d.ts'
import type { Operations as OtherQuery } from './other-query.d.ts'
type Part = 'params' | 'query' | 'body' | 'answer'
type Differs<A, B> = [A] extends [B] ? ([B] extends [A] ? never : true) : true
type Different<P extends Operations> = { [K in keyof Operations]: { [Q in Part]: Differs<Operations[K][Q], P[K][Q]> }[Part] }[keyof Operations]
type Same<P> = P extends Operations ? ([Different<P>, Exclude<keyof P, keyof Operations>] extends [never, never] ? true : false) : false
export const same: [Same<Published>, Same<OtherAnswer>, Same<OtherQuery>] = [true, false, false]
type SameWebhooks<W> = Differs<Webhooks, W> extends never ? true : false
export const sameWebhooks: [SameWebhooks<PublishedWebhooks>, SameWebhooks<OtherWebhooks>] = [true, false]
`

function compile(folder: string, files: readonly string[], options: Record<string, unknown>): string {
  const config = join(folder, 'tsconfig.try.json')
  writeFileSync(
    config,
    JSON.stringify({ compilerOptions: { noEmit: true, strict: true, ...options }, files }),
  )
  const { stdout, status } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', config],
    { encoding: 'utf8' },
  )
  rmSync(config)
  return status === 0 ? '' : stdout
}

describe('the types', () => {
  const strict = { target: 'es2022', lib: ['es2022', 'dom'], types: [], skipLibCheck: false }
  beforeAll(() => {
    writeFileSync(join(project, 'typed.ts'), typed)
    writeFileSync(join(project, 'with-absent.ts'), withAbsent)
  })

  test('compile in a strict project with a bundler', () => {
    const options = { ...strict, module: 'esnext', moduleResolution: 'bundler' }
    expect(compile(project, ['typed.ts'], options)).toBe('')
  })

  test.each([true, false])(
    'take null and undefined for absent, with exactOptionalPropertyTypes %s',
    (exact) => {
      const options = { ...strict, module: 'nodenext', exactOptionalPropertyTypes: exact }
      expect(compile(project, ['typed.ts', 'with-absent.ts'], options)).toBe('')
    },
  )

  test('compile in a strict Node project, with the examples of the README', () => {
    // Declarations for the parts of the examples that belong to the reader's program.
    const around = `
      declare const baseUrl: string, token: string, secret: string, lane_ref: string
      declare const vault: { read(name: string): Promise<string> }
      declare const log: { debug(event: object): void; error(event: object): void }
      declare const field: HTMLInputElement, process: { env: Record<string, string | undefined> }
      declare const lane: { origin: string; destination: string }
      declare const update: { lane_ref: string }
      declare const offer: { origin: string; destination: string; proposed_rate: number }
      declare function park(update: object): void
      declare function report(errors: readonly object[]): void
      declare function queueForLater(update: object): void
      declare function show(advice: object): void
      declare function isNew(id: string): Promise<boolean>
      declare function book(laneRef: string, changed: readonly string[]): Promise<void>
      declare function respond(status: number): void
      declare const request: Request
    `
    const [first = '', ...blocks] = codeBlocks('client/README.md', 'ts')
    const files = [first, ...blocks].map((block, at) => {
      const isWhole = block.includes('new Lanewise(')
      const used = isWhole
        ? ''
        : `import { Lanewise as Client } from 'lanewise-client'\ndeclare const lanewise: Client, owner: Client\n`
      const imported = at > 0 && isWhole ? `import { Lanewise } from 'lanewise-client'\n` : ''
      // A `return` in an example leaves the reader's function.
      const name = `readme-${at}.ts`
      writeFileSync(
        join(project, name),
        `${imported}${used}${around}${block.replaceAll('return ', 'void ')}\nexport {}\n`,
      )
      return name
    })
    expect(files).toHaveLength(7)
    const options = { ...strict, module: 'nodenext', noFallthroughCasesInSwitch: false }
    expect(compile(project, ['typed.ts', ...files], options)).toBe('')
  })

  test('equal those of the contract, and the comparison detects a planted difference', () => {
    mkdirSync(join(root, 'client', 'dist'), { recursive: true })
    const tried = mkdtempSync(join(root, 'client', 'dist', 'compare-'))
    const options = {
      types: ['node'],
      module: 'nodenext',
      target: 'esnext',
      lib: ['esnext', 'dom'],
      exactOptionalPropertyTypes: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    }
    const published = readFileSync(join(installed(), 'wire.d.ts'), 'utf8')
    const texts = {
      'published.d.ts': published,
      'other-answer.d.ts': published.replace('lane_id: number', 'lane_id: string'),
      'other-query.d.ts': published.replace('equipment?: string | null | undefined', 'equipment?: string'),
      'other-webhook.d.ts': published.replace('kind: "service_token" | "signing_secret"', 'kind: string'),
      'compared.ts': compared,
    }
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(tried, name), text)
    expect(compile(tried, ['compared.ts'], options)).toBe('')
    rmSync(tried, { recursive: true })
  })
})
