import { globSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Finds the database functions that a test calls, from the call counts of the JavaScript engine. */

const folder = fileURLToPath(new URL('../server/src/database/queries/', import.meta.url))

/** Returns the names of all exported database functions by file, such as `lanes.findLane`. */
export async function databaseFunctions(): Promise<string[]> {
  const names: string[] = []
  for (const file of globSync('**/*.ts', { cwd: folder }).filter(
    (name) => !name.endsWith('.test.ts') && basename(name) !== 'index.ts',
  )) {
    const exported = (await import(`${folder}${file}`)) as Record<string, unknown>
    for (const [name, value] of Object.entries(exported)) {
      const isClass = typeof value === 'function' && /^class\b/.test(value.toString())
      if (typeof value === 'function' && !isClass) names.push(`${basename(file, '.ts')}.${name}`)
    }
  }
  return names
}

/** Starts to count calls of database functions. Returns a function that stops counting, and returns the names of the called ones. */
export async function countCalls(): Promise<() => Promise<ReadonlySet<string>>> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    await session.post('Profiler.stopPreciseCoverage')
    session.disconnect()
    return new Set(
      result
        .filter(({ url }) => url.includes('/server/src/database/queries/'))
        .flatMap(({ url, functions }) =>
          functions
            .filter(({ ranges: [whole] }) => (whole?.count ?? 0) > 0)
            .map(({ functionName }) => `${basename(url.replace(/\?.*$/, ''), '.ts')}.${functionName}`),
        ),
    )
  }
}
