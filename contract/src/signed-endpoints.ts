import { allEndpoints } from './all-endpoints.ts'
import { type Endpoint, signsOf } from './endpoint.ts'

/** The endpoints that require a signature, in the order of the OpenAPI document. */
export const signedEndpoints = (allEndpoints as readonly Endpoint[]).filter(
  (endpoint) => signsOf(endpoint) !== null,
)
