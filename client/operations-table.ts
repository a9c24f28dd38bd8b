import { join } from 'node:path'
import type { Plugin } from 'vite'
import { operations } from '#client/operations.ts'

const replaced = join(import.meta.dirname, 'src', 'operations.ts')

/**
 * Puts the plain table of operations in the place of the file that makes it from the contract: method, path and what a
 * call must know. The contract's schemas, and the package they are made with, stay behind. The names of the facts are
 * written once, not in each of some sixty rows.
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
