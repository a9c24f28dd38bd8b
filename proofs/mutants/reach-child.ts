import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Node loads this file into each program that a test starts. When the program ends, it writes what the program reached. */
const { LANEWISE_REACH_FILE: folder } = process.env
if (folder !== undefined) {
  const reached = new Set<number>()
  Object.assign(globalThis, { lanewiseReach: (block: number) => reached.add(block) })
  process.on('exit', () => {
    try {
      writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify({ ms: 0, reached: [...reached] }))
    } catch {
      // The program may lack the permission to write there.
    }
  })
}
