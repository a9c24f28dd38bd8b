import { getPriority, setPriority } from 'node:os'

/**
 * Lowers the priority of a process to `priority` (-20, the highest, to 19), unless it is lower already. On Linux, 0 is the calling
 * thread. Where a sandbox forbids it, as systemd's filter of system calls can, nothing changes: slower is better than not at all.
 *
 * @example lowerPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
 */
export function lowerPriority(pid: number, priority: number): void {
  try {
    if (getPriority(pid) < priority) setPriority(pid, priority)
  } catch {}
}
