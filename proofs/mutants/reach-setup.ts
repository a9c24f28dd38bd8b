import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'

/** Runs before each test file of the run that records what tests reach (`reach.ts`), and writes what the file reached. */
const { LANEWISE_REACH: folder, LANEWISE_REACH_CHILD: child } = process.env
if (folder !== undefined) {
  const reached = new Set<number>()
  Object.assign(globalThis, { lanewiseReach: (block: number) => reached.add(block) })
  const name = (expect.getState().testPath ?? '').replace(`${process.cwd()}/`, '').replaceAll('/', '+')
  // Programs that the tests start also record what they reach.
  mkdirSync(join(folder, name), { recursive: true })
  process.env.LANEWISE_REACH_FILE = join(folder, name)
  process.env.NODE_OPTIONS = `--import ${child}`
  const began = performance.now()
  afterAll(() => {
    const ms = Math.round(performance.now() - began)
    writeFileSync(join(folder, name, 'tests.json'), JSON.stringify({ ms, reached: [...reached] }))
  })
}
