import { afterAll } from 'vitest'
import { processorMs } from './processor-time.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** The CPU time of a test file in milliseconds, with its imports and the programs it started. */
    processorMs?: number
  }
}

// Vitest's setup file: tells the budget reporter what each test file used.
const started = processorMs()

// biome-ignore lint/correctness/noEmptyPattern: Vitest requires a pattern as the first parameter.
afterAll(({}, file) => {
  const ended = processorMs()
  file.meta.processorMs = ended.own + ended.children - started.own - started.children
})
