import { readFileSync } from 'node:fs'

/** Hundredths of a second: the unit of `/proc/self/stat` on every usual Linux. */
const tickMs = 10

/**
 * The CPU time of this process and of the programs it started that have ended, in milliseconds. Where there is no `/proc`
 * (macOS), the time of this process alone.
 */
export function processorMs(): { readonly own: number; readonly children: number } {
  const { user, system } = process.cpuUsage()
  return { own: (user + system) / 1_000, children: childrenMs() }
}

function childrenMs(): number {
  try {
    // The second field is the program's name in parentheses, which may contain spaces.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
    const [user, system] = fields.slice(13, 15).map(Number)
    return ((user ?? 0) + (system ?? 0)) * tickMs
  } catch {
    return 0
  }
}
