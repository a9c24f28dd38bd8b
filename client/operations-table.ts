import { join } from 'node:path'
import type { Plugin } from 'vite'
import { operations } from '#client/operations.ts'

const replaced = join(import.meta.dirname, 'src', 'operations.ts')

/**
 * A Vite plugin that replaces `operations.ts` by a plain table of operations, so that a bundle includes neither the
 * contract's schemas nor the schema library. The table lists the property names once instead of in about sixty rows.
 */
export function operationsTable(): Plugin {
  const names = Object.keys(Object.values(operations)[0] ?? {})
  const rows = Object.entries(operations).map(([operation, facts]) => [operation, ...Object.values(facts)])
  return {
    name: 'operations-table',
    load: (id) =>
      id === replaced
        ? `const names = ${JSON.stringify(names)}
const rows = JSON.parse(${JSON.stringify(JSON.stringify(rows))})
export const operations = Object.fromEntries(rows.map(([operation, ...facts]) =>
  [operation, Object.fromEntries(facts.map((fact, at) => [names[at], fact]))]))`
        : null,
  }
}
