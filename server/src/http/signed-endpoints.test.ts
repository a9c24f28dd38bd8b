import { expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { type Endpoint, readsOnly, signsOf } from '#contract/endpoint.ts'

test('a signature is valid for one endpoint: every signed endpoint except one signs its method and path', () => {
  const bodyOnly = (allEndpoints as readonly Endpoint[]).filter((endpoint) => signsOf(endpoint) === 'body')
  expect(bodyOnly.map(({ method, path }) => [method, path])).toEqual([
    ['POST', '/api/integrations/tms/shipment-update'],
  ])
})

test('an endpoint that signs the body only has neither a query nor parameters', () => {
  for (const endpoint of (allEndpoints as readonly Endpoint[]).filter((one) => signsOf(one) === 'body')) {
    expect([endpoint.query, endpoint.params]).toEqual([undefined, undefined])
  }
})

test('every write that a service token can make is signed', () => {
  const unsigned = (allEndpoints as readonly Endpoint[]).filter(
    (endpoint) => endpoint.who.kind === 'service' && !readsOnly(endpoint) && signsOf(endpoint) === null,
  )
  expect(unsigned).toEqual([])
})
