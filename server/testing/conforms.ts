import { allEndpoints } from '#contract/all-endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { problems } from '#contract/errors.ts'
import { problemsOf } from '#contract/openapi.ts'
import { shape } from '#contract/shape.ts'

/** An address without parameters goes before one that would take its last part for a parameter, as in the service. */
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
 * Every answer that any test gets through `call` is held against the contract: a status the document names, and a body
 * of the shape it gives (of a CSV file, its text). Throws with what does not fit.
 */
export function holdAgainstContract(method: string, path: string, status: number, body: unknown): void {
  const route = path.split('?')[0] ?? path
  const found = known.find(({ endpoint, form }) => endpoint.method === method && form.test(route))
  if (found === undefined) return
  const { endpoint, answer, statuses } = found
  if (!statuses.has(status)) {
    throw new Error(
      `${endpoint.name} answered ${status}, which its contract does not name: ${JSON.stringify(body)}`,
    )
  }
  const errors = status === endpoint.status ? answer.errors(body) : []
  if (errors.length > 0) {
    throw new Error(`${endpoint.name} answered what its contract does not allow: ${JSON.stringify(errors)}`)
  }
}
