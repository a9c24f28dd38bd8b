import type { LoadOrder, LoadReport } from './load-messages.ts'
import { type HeldPool, heldPool, runLoad } from './run-load.ts'

/** The load generator, a process of its own: takes orders from the benchmark and reports what came of them. */
const pools = new Map<string, HeldPool>()

async function obey(order: LoadOrder): Promise<LoadReport> {
  if (order.kind === 'pool') {
    pools.set(order.name, heldPool(order.pool))
    return { kind: 'ready' }
  }
  const pool = pools.get(order.run.pool)
  if (pool === undefined) return { kind: 'failed', reason: `There is no pool ${order.run.pool}.` }
  return { kind: 'done', result: await runLoad(pool, order.run) }
}

process.on('message', (order: LoadOrder) => {
  obey(order)
    .catch(
      (error: unknown): LoadReport => ({
        kind: 'failed',
        reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
    )
    .then(
      (report) => process.send?.(report),
      () => process.exit(1),
    )
})
process.on('disconnect', () => process.exit(0))
