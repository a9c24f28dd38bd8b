/** @module-tag long */
import { stripTypeScriptTypes } from 'node:module'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { codeLanguages, exampleBase } from '#contract/code-samples.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { openApiDocument } from '#contract/openapi.ts'
import { type Integration, makeIntegration, makeQuote } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { has, run } from './page.ts'

/** Runs the programs of the OpenAPI document: those in Python only if the machine has python3. */

interface Sample {
  readonly label: string
  readonly source: string
}
const { paths } = openApiDocument('1.0.0') as {
  paths: Record<string, Record<string, { operationId: string; 'x-codeSamples': readonly Sample[] }>>
}
const samples = new Map(
  Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .map((operation) => [operation.operationId, operation['x-codeSamples']] as const),
)
const sampleOf = (name: string, label: string) =>
  samples.get(name)?.find((one) => one.label === label)?.source ?? ''

const commands: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  curl: ['bash', '-euo', 'pipefail'],
  python: ['python3', '-'],
  typescript: [process.execPath, '--input-type=module-typescript', '-'],
}
const hasPython = has('python3')
if (!hasPython) process.stderr.write('NOT TESTED: the programs in Python need python3\n')

test('every operation has a program in each language, which names its method and address', () => {
  for (const { name, method, path } of allEndpoints as readonly Endpoint[]) {
    const programs = samples.get(name) ?? []
    expect(programs.map(({ label }) => label)).toEqual(codeLanguages)
    const [beforeParameter = ''] = path.split('{')
    for (const { source } of programs) expect(source).toContain(`${exampleBase}${beforeParameter}`)
    if (method !== 'GET') expect(sampleOf(name, 'typescript')).toContain(`method: '${method}'`)
  }
})

test('every program is valid in its language', async () => {
  for (const name of samples.keys()) {
    expect(() => stripTypeScriptTypes(sampleOf(name, 'typescript'))).not.toThrow()
    const shell = await run('bash', ['-n'], { input: sampleOf(name, 'curl') })
    expect([name, shell.code, shell.complaint]).toEqual([name, 0, ''])
  }
})

test.skipIf(!hasPython)('every program in Python is valid', async () => {
  const sources = JSON.stringify([...samples.keys()].map((name) => sampleOf(name, 'python')))
  const check = 'import ast, json, sys\nfor source in json.load(sys.stdin): ast.parse(source)'
  expect(await run('python3', ['-c', check], { input: sources })).toMatchObject({ code: 0, complaint: '' })
})

describe.each(codeLanguages)('the programs in %s', (language) => {
  const isTested = language !== 'python' || hasPython
  let app: TestApp
  let ours: Integration
  beforeAll(async () => {
    app = await testApp({ now: Date.now() })
    ours = await makeIntegration(app, 'integrations:write quotes:write imports:write read')
  })
  afterAll(() => app.close())

  /** Runs the program of an operation against the service, and returns the service's answer. */
  async function ran(name: string, changed: (source: string) => string = (source) => source) {
    const input = changed(sampleOf(name, language)).replaceAll(exampleBase, app.url)
    const [command, ...args] = commands[language] ?? ['']
    const env = {
      LANEWISE_TOKEN: ours.token,
      LANEWISE_SECRET: ours.secret,
      LANEWISE_SIGN_IN: ours.tenant.owner,
    }
    app.now = Date.now()
    const { output, complaint } = await run(command, args, { input, env })
    expect(complaint).toBe('')
    const [, answer = '', status = ''] = /^([\s\S]*)\nHTTP (\d+)\n?$/.exec(output) ?? []
    return { status: Number(status), body: answer === '' ? null : JSON.parse(answer) }
  }

  test.skipIf(!isTested)('read markup, and who is signed in', async () => {
    await makeQuote(app, ours.tenant)
    const markup = await ran('markup')
    expect(markup).toMatchObject({ status: 200, body: { query: { origin: 'Dallas, TX' } } })
    expect(await ran('me')).toMatchObject({ status: 200 })
  })

  test.skipIf(!isTested)('push quotes, whose address is signed, and an update, whose body is', async () => {
    expect(await ran('push-quotes')).toMatchObject({ status: 200, body: { created: 1, failed: 1 } })
    const quote = await makeQuote(app, ours.tenant)
    const toOurs = (source: string) => source.replaceAll('48211093754-1-1', quote.lane_ref)
    expect(await ran('shipment-update', toOurs)).toEqual({
      status: 200,
      body: { status: 'ok', lane_id: quote.lane_id, updated: true },
    })
  })

  test.skipIf(!isTested)('push a file, with a signed query', async () => {
    expect(await ran('integration-create-import')).toMatchObject({ status: 202, body: { status: 'running' } })
  })

  test.skipIf(!isTested)('quote, as a person who is signed in', async () => {
    expect(await ran('create-quote-request')).toMatchObject({ status: 201 })
  })
})
