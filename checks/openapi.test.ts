import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Compile } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { openApiDocument } from '#contract/openapi.ts'
import { readParameters, shape } from '#contract/shape.ts'
import { filesOf, textOf } from './repository.ts'

const endpoints = allEndpoints as readonly Endpoint[]

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1, and its examples fit its schemas', async () => {
    const problems = await lintFromString({
      source: JSON.stringify(openApiDocument('1.0.0')),
      absoluteRef: 'openapi.json',
      config: await createConfig({
        extends: ['recommended'],
        rules: {
          'no-invalid-media-type-examples': 'error',
          'no-invalid-parameter-examples': 'error',
          'no-invalid-schema-examples': 'error',
          'operation-operationId': 'error',
          'operation-operationId-unique': 'error',
          'path-parameters-defined': 'error',
          'no-unused-components': 'error',
          // The document is served by the service it is of, wherever that is.
          'no-server-example.com': 'off',
        },
      }),
    })
    const said = problems.map(
      ({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`,
    )
    expect(said).toEqual([])
  })

  test('names each operation once, after its contract', () => {
    const names = endpoints.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/)
  })

  test('has one operation for each method of an address', () => {
    const routes = endpoints.map(({ method, path }) => `${method} ${path}`)
    expect(new Set(routes).size).toBe(routes.length)
  })
})

describe.each(endpoints.map((endpoint) => ({ name: endpoint.name, endpoint })))('$name', ({ endpoint }) => {
  const { examples } = endpoint

  test('says in a sentence what it does', () => {
    expect(endpoint.summary).toMatch(/^[A-Z].*[^.]$/)
    expect(endpoint.description).toMatch(/^[A-Z].*\.$/)
  })

  if (endpoint.body !== undefined && endpoint.bodyKind !== 'csv') {
    const { body } = endpoint
    test('shows an example of its body, and would accept it', () => {
      expect(examples?.body).toBeDefined()
      expect(shape(body, 'body').errors(examples?.body)).toEqual([])
    })
  }

  if (examples?.query !== undefined && endpoint.query !== undefined) {
    const { query } = endpoint
    test('would accept its example query, as text from an address', () => {
      const sent = Object.fromEntries(
        Object.entries(examples.query ?? {}).map(([name, value]) => [name, String(value)]),
      )
      expect(shape(query, 'parameter').errors(readParameters(query, sent))).toEqual([])
      expect(readParameters(query, sent)).toEqual(examples.query)
    })
  }

  if (examples?.answer !== undefined) {
    test('could give its example answer', () => {
      expect([...Compile(endpoint.answer).Errors(examples.answer)]).toEqual([])
    })
  }

  test('is called by a test over HTTP, or named in one', () => {
    expect(isTested(endpoint)).toBe(true)
  })
})

const endpointTests = filesOf('server/**/*.test.ts', 'checks/*.test.ts', 'server/testing/make.ts')
  .filter((path) => path !== 'checks/openapi.test.ts')
  .map((path) => withConstants(textOf(path)))

/** With the addresses that a file names in constants put where it uses them. */
function withConstants(text: string): string {
  const constants = text.matchAll(/^ *const (\w+) = '(\/[^']*)'$/gm)
  return [...constants].reduce((all, [, name, value]) => all.replaceAll(`\${${name}}`, value ?? ''), text)
}

/** One file of tests holds its address, as `'/api/lanes/${ref}/requote'`, and its method; or says its name. */
function isTested({ name, method, path }: Endpoint): boolean {
  const address = path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/\'"`?]+')
  const called = new RegExp(`['"\`}]${address}['"\`?]`)
  const named = new RegExp(`['"\` ]${name}['"\` .,:]`)
  const sent = new RegExp(`['"\`]${method}\\b`)
  return endpointTests.some((text) => (called.test(text) && sent.test(text)) || named.test(text))
}
