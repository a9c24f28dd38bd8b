import { globSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The JavaScript engine counts which database functions a test calls, so that nobody lists them. */

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

/** Counts calls of database functions from now on. Returns a function that stops, and returns the names of those that were called. */
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
