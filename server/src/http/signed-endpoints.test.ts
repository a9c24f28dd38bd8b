import { expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { type Endpoint, readsOnly, signsOf } from '#contract/endpoint.ts'

test('a signature is valid for one endpoint: every signed endpoint except one signs its method and path', () => {
  const bodyOnly = (allEndpoints as readonly Endpoint[]).filter((endpoint) => signsOf(endpoint) === 'body')
  expect(bodyOnly.map(({ method, path }) => [method, path])).toEqual([
    ['POST', '/api/integrations/tms/shipment-update'],
  ])
})

test('no signed endpoint has a query, because the signature does not cover one', () => {
  const queried = (allEndpoints as readonly Endpoint[]).filter(
    (endpoint) => signsOf(endpoint) !== null && endpoint.query !== undefined,
  )
  expect(queried).toEqual([])
})

test('every write that a service token can make is signed', () => {
  const unsigned = (allEndpoints as readonly Endpoint[]).filter(
    (endpoint) => endpoint.who.kind === 'service' && !readsOnly(endpoint) && signsOf(endpoint) === null,
  )
  expect(unsigned).toEqual([])
})
