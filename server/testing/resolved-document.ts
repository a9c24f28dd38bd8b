/** Returns an OpenAPI document with each `$ref` replaced by its target. */
export function resolvedDocument<Document>(document: Document): Document {
  const resolved = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(resolved)
    if (typeof part !== 'object' || part === null) return part
    const { $ref, ...beside } = part as Record<string, unknown>
    if (typeof $ref !== 'string') {
      return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, resolved(member)]))
    }
    const target = $ref
      .slice('#/'.length)
      .split('/')
      .reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document)
    if (target === undefined) throw new Error(`${$ref} has no target.`)
    return { ...(resolved(target) as object), ...beside }
  }
  return resolved(document) as Document
}
