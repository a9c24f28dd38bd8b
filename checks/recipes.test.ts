/** @module-tag long */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { call, type Integration, makeIntegration, makeQuote } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { projectWithClient } from '../client/testing/built-client.ts'
import { has, run } from './page.ts'
import { root, textOf } from './repository.ts'

/** Runs the recipes unchanged: on the signing test vectors, and from the sign-in to a booked margin. */

let app: TestApp
let integration: Integration
let folder: string
/** The folder of a project with the client. */
let project: string

beforeAll(async () => {
  app = await testApp({ now: Date.now() })
  integration = await makeIntegration(app, 'integrations:write quotes:write')
  folder = mkdtempSync(join(tmpdir(), 'lanewise-recipes-'))
  project = projectWithClient()
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  rmSync(project, { recursive: true })
  await app.close()
})

interface Vector {
  readonly secret: string
  readonly timestamp: string
  readonly address?: string
  readonly body: string
  readonly signature: string
}
const { vectors } = JSON.parse(textOf('docs/signing-vectors.json')) as { vectors: readonly Vector[] }

interface Recipe {
  readonly name: string
  readonly needs: readonly string[]
  /** Builds the recipe if necessary, and returns the command that runs it. */
  readonly prepare: () => readonly [command: string, ...args: string[]]
}

const recipes: readonly Recipe[] = [
  {
    name: 'lanewise.sh',
    needs: ['bash', 'curl', 'openssl'],
    prepare: () => ['bash', join(root, 'recipes/lanewise.sh')],
  },
  { name: 'lanewise.py', needs: ['python3'], prepare: () => ['python3', join(root, 'recipes/lanewise.py')] },
  {
    name: 'lanewise.ts',
    needs: [],
    prepare: () => {
      writeFileSync(join(project, 'lanewise.ts'), textOf('recipes/lanewise.ts'))
      return [process.execPath, join(project, 'lanewise.ts')]
    },
  },
  {
    name: 'Lanewise.java',
    needs: ['javac', 'java'],
    prepare: () => {
      const classes = join(folder, 'java')
      mkdirSync(classes)
      execFileSync('javac', ['-Xlint:all', '-Werror', '-d', classes, join(root, 'recipes/Lanewise.java')])
      return ['java', '-XX:TieredStopAtLevel=1', '-cp', classes, 'Lanewise']
    },
  },
]

describe.each(recipes)('$name', ({ name, needs, prepare }) => {
  if (!has(...needs)) process.stderr.write(`NOT TESTED: ${name} needs ${needs.join(', ')}\n`)
  let command: readonly [string, ...string[]]
  beforeAll(() => {
    if (has(...needs)) command = prepare()
  })

  test.skipIf(!has(...needs))('computes the signatures of the test vectors', async () => {
    const [program, ...args] = command
    for (const [secret, of] of Map.groupBy(vectors, (vector) => vector.secret)) {
      const files = of.flatMap(({ timestamp, address, body }, at) => {
        const file = join(folder, `body-${at}`)
        writeFileSync(file, address === undefined ? body : `${address}\n${body}`)
        return [timestamp, file]
      })
      const signed = await run(program, [...args, 'sign', ...files], { env: { LANEWISE_SECRET: secret } })
      expect(signed.complaint).toBe('')
      expect(signed.output.trim().split('\n')).toEqual(of.map(({ signature }) => signature))
    }
  })

  test.skipIf(!has(...needs))('runs from a sign-in to a booked margin, repeatedly', async () => {
    const [program, ...args] = command
    const quote = await makeQuote(app, integration.tenant)
    const { email, password } = integration.tenant
    const env = { LANEWISE_URL: app.url, LANEWISE_EMAIL: email, LANEWISE_PASSWORD: password }
    // Three runs, because a brokerage can have only two live secrets with one name.
    for (const _ of ['first', 'second', 'third']) {
      app.now = Date.now()
      const ran = await run(program, args, { env: { ...env, LANEWISE_LANE_REF: quote.lane_ref } })
      expect(ran.complaint).toBe('')
      const [update, markup, insight, pushed] = ran.output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(update).toEqual({ status: 'ok', lane_id: quote.lane_id, updated: true })
      expect(markup).toMatchObject({ found: true, query: { proposed_rate: 2150, equipment: 'V' } })
      expect(insight).toMatchObject({ found: true, scope: 'equipment', history: { avg_rate_usd: 2150 } })
      expect(pushed).toMatchObject({ failed: 0, results: [{ status: 200, external_id: 'RECIPE-1' }] })
    }

    const refused = await run(program, args, { env: { ...env, LANEWISE_LANE_REF: '1-1-1' } })
    expect(refused.code).not.toBe(0)
    expect(refused.output + refused.complaint).toContain('lane-not-found')
  })
})

test.skipIf(!has('bash', 'curl', 'openssl'))(
  'lanewise.sh prints no response of a failed attempt',
  async () => {
    let updates = 0
    const service = createServer((request, response) => {
      request.resume()
      const isRefused = request.url === '/api/integrations/tms/shipment-update' && ++updates === 1
      response.statusCode = isRefused ? 429 : 200
      response.end(JSON.stringify({ path: request.url?.split('?')[0], isRefused }))
    })
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    const env = {
      LANEWISE_URL: url,
      LANEWISE_EMAIL: 'a@b.example',
      LANEWISE_PASSWORD: 'x',
      LANEWISE_LANE_REF: '1',
    }
    const { output } = await run('bash', [join(root, 'recipes/lanewise.sh')], { env })
    service.close()
    expect(output.trim().split('\n')).toEqual(
      ['tms/shipment-update', 'insights/markup', 'insights/lane', 'quotes'].map((path) =>
        JSON.stringify({ path: `/api/integrations/${path}`, isRefused: false }),
      ),
    )
  },
)

describe('market-rates.ts', () => {
  const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' }
  const rate = { ...lane, basis: 'all_in', mid: 1960, as_of: '2026-02-27' }
  const push = (from: string) => {
    writeFileSync(join(project, 'market-rates.ts'), textOf('recipes/market-rates.ts'))
    return run(process.execPath, [join(project, 'market-rates.ts'), from], {
      env: {
        LANEWISE_URL: app.url,
        LANEWISE_TOKEN: integration.token,
        LANEWISE_SECRET: integration.secret,
        RATES_SOURCE: 'Our feed',
        RATES_AUTHORIZATION: 'Bearer ours',
      },
    })
  }
  const stored = async () => {
    const { body } = await call(app, 'GET', '/api/market-rates', { token: integration.tenant.owner })
    return body.rates.map(({ source, mid }: { source: string; mid: number }) => `${source} ${mid}`).sort()
  }
  beforeEach(() => {
    app.now = Date.now()
  })

  test('pushes the rows of an address, and names those that are refused', async () => {
    const rows = [rate, { ...rate, mid: 2.5, as_of: '2026-02-20' }, { ...rate, mid: 1980, source: 'DAT' }]
    const source = createServer(({ headers }, response) => {
      response.statusCode = headers.authorization === 'Bearer ours' ? 200 : 401
      response.end(JSON.stringify(rows))
    })
    await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve))
    const { code, output } = await push(`http://127.0.0.1:${(source.address() as AddressInfo).port}/`)
    source.close()
    expect(JSON.parse(output)).toMatchObject({
      from: 0,
      created: 2,
      failed: 1,
      refused: [{ index: 1, status: 422 }],
    })
    expect(code).toBe(1)
    expect(await stored()).toEqual(['DAT 1980', 'Our feed 1960'])
  })

  test('pushes a CSV file', async () => {
    const file = join(folder, 'rates.csv')
    writeFileSync(
      file,
      'Origin,Destination,Equipment,All-In Rate,Date\n"Dallas, TX","Atlanta, GA",R,2200,2026-02-27\n',
    )
    const { code, output } = await push(file)
    expect(JSON.parse(output)).toMatchObject({ stored: true, created: 1, failed: 0 })
    expect(code).toBe(0)
    expect(await stored()).toContain('Our feed 2200')
  })
})

test('the TypeScript recipes compile in a strict project', () => {
  const compilerOptions = {
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    module: 'nodenext',
    target: 'es2024',
    lib: ['esnext'],
    exactOptionalPropertyTypes: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['lanewise.ts', 'market-rates.ts'] }),
  )
  const { stdout } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', project],
    { encoding: 'utf8' },
  )
  expect(stdout).toBe('')
})
