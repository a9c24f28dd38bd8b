import type { SignedAddress, Signs } from '#contract/signature.ts'

/** A signed operation of the API. Its path may contain `{parameters}`. */
export interface SignedOperation extends SignedAddress {
  readonly signs: Signs
  /** False for a CSV file. */
  readonly isJson: boolean
  /** The maximum number of keys in the body. */
  readonly keysMax: number
}

/** The operation of one request, and the address that its signer must sign; null if the operation signs the body only. */
export interface SignedTarget {
  readonly operation: SignedOperation
  readonly address: SignedAddress | null
}

/**
 * The target of a request, from its method and path as pasted; null if no signed operation is there. A base URL
 * is left out.
 *
 * @example signedTarget('POST https://host/api/integrations/quotes', operations)?.address?.path // '/api/integrations/quotes'
 */
export function signedTarget(text: string, operations: readonly SignedOperation[]): SignedTarget | null {
  const [, method = '', url = ''] = /^\s*([A-Za-z]+)\s+(\S+)\s*$/.exec(text) ?? []
  const [path = ''] = url.replace(/^https?:\/\/[^/]*/i, '').split('#', 1)
  const [plainPath = ''] = path.split('?', 1)
  const operation = operations.find(
    (one) => one.method === method.toUpperCase() && isPathOf(one.path, plainPath),
  )
  if (operation === undefined) return null
  const address = operation.signs === 'body' ? null : { method: operation.method, path }
  return { operation, address }
}

function isPathOf(template: string, path: string): boolean {
  const steps = path.split('/')
  const expected = template.split('/')
  return (
    steps.length === expected.length &&
    expected.every((step, at) => (step.startsWith('{') ? steps[at] !== '' : step === steps[at]))
  )
}

export function addressText({ method, path }: SignedAddress): string {
  return `${method} ${path}`
}
