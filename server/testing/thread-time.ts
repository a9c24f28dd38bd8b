/**
 * The CPU time that this thread has used, in milliseconds. It does not run while the thread waits for a core, so a limit on
 * it does not depend on the load of the machine. Before Node 24, it is the time of the whole process.
 */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1_000
}
