import { expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'

/**
 * A signature covers the time and the bytes of the body, and neither the method nor the address. With one signed
 * endpoint that says it all: what was signed can be sent nowhere else. A second one needs secrets of a purpose of its
 * own, or a signature over its address, before it is listed here.
 */
const signedAndNothingElse = ['POST /api/integrations/tms/shipment-update']

test('one endpoint is signed: a signature that leaves out the address fits no second one', () => {
  const signed = (allEndpoints as readonly Endpoint[])
    .filter(({ who }) => who.kind === 'service' && who.signed)
    .map(({ method, path }) => `${method} ${path}`)
  expect(signed).toEqual(signedAndNothingElse)
})

test('every write that a service token can make is signed', () => {
  const unsigned = (allEndpoints as readonly Endpoint[]).filter(
    ({ method, who }) => who.kind === 'service' && method !== 'GET' && !who.signed,
  )
  expect(unsigned).toEqual([])
})
