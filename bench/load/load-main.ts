import type { LoadOrder, LoadReport } from './load-messages.ts'
import { type HeldPool, heldPool, runLoad } from './run-load.ts'

/** The load generator: a separate process that executes orders of the benchmark and reports the results. */
const pools = new Map<string, HeldPool>()

async function execute(order: LoadOrder): Promise<LoadReport> {
  if (order.kind === 'pool') {
    pools.set(order.name, heldPool(order.pool))
    return { kind: 'ready' }
  }
  const pool = pools.get(order.run.pool)
  if (pool === undefined) return { kind: 'failed', reason: `Unknown pool: ${order.run.pool}.` }
  return { kind: 'done', result: await runLoad(pool, order.run) }
}

process.on('message', (order: LoadOrder) => {
  execute(order)
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
