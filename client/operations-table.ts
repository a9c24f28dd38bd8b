import { join } from 'node:path'
import type { Plugin } from 'vite'
import { operations } from '#client/operations.ts'

const replaced = join(import.meta.dirname, 'src', 'operations.ts')

/**
 * Puts the plain table of operations in the place of the file that makes it from the contract: method, path and what a
 * call must know. The contract's schemas, and the package they are made with, stay behind.
 */
export function operationsTable(): Plugin {
  return {
    name: 'operations-table',
    load: (id) =>
      id === replaced
        ? `export const operations = JSON.parse(${JSON.stringify(JSON.stringify(operations))})`
        : null,
  }
}
