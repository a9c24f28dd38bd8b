import { allEndpoints } from '#contract/all-endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { problems } from '#contract/errors.ts'
import { problemsOf } from '#contract/openapi.ts'
import { shape } from '#contract/shape.ts'

/** Paths without parameters come first, as in the service's router. */
const known = (allEndpoints as readonly Endpoint[])
  .toSorted((one, other) => Number(one.path.includes('{')) - Number(other.path.includes('{')))
  .map((endpoint) => ({
    endpoint,
    form: new RegExp(`^${endpoint.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    answer: shape(endpoint.answer, 'body'),
    statuses: new Set<number>([
      endpoint.status,
      ...problemsOf(endpoint).map((code) => problems[code].status),
    ]),
  }))

/**
 * Checks a response against the contract: the endpoint must document the status, and the body (for CSV, the text) must match
 * its schema. Throws otherwise. `call` applies this check to every response.
 */
export function checkAgainstContract(method: string, path: string, status: number, body: unknown): void {
  const route = path.split('?')[0] ?? path
  const found = known.find(({ endpoint, form }) => endpoint.method === method && form.test(route))
  if (found === undefined) return
  const { endpoint, answer, statuses } = found
  if (!statuses.has(status)) {
    throw new Error(
      `${endpoint.name} returned ${status}, which its contract does not document: ${JSON.stringify(body)}`,
    )
  }
  const errors = status === endpoint.status ? answer.errors(body) : []
  if (errors.length > 0) {
    throw new Error(
      `${endpoint.name} returned a body that its contract does not allow: ${JSON.stringify(errors)}`,
    )
  }
}
