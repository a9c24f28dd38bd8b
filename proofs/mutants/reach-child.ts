import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Loaded into each program that a test starts, and writes what the program reached when it ends. */
const { LANEWISE_REACH_FILE: folder } = process.env
if (folder !== undefined) {
  const reached = new Set<number>()
  Object.assign(globalThis, { lanewiseReach: (block: number) => reached.add(block) })
  process.on('exit', () => {
    try {
      writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify({ ms: 0, reached: [...reached] }))
    } catch {
      // A program without the right to write there.
    }
  })
}
