import type { LoadOrder, LoadReport, RequestPool } from './load-messages.ts'
import { runLoad } from './run-load.ts'

/** The load generator, a process of its own: takes orders from the benchmark and reports what came of them. */
let pool: RequestPool = { bytes: new Uint8Array(), ends: new Uint32Array(), tenants: new Uint32Array() }
const report = (message: LoadReport) => process.send?.(message)

process.on('message', (order: LoadOrder) => {
  if (order.kind === 'pool') {
    pool = order.pool
    report({ kind: 'ready' })
    return
  }
  runLoad(pool, order.run).then(
    (result) => report({ kind: 'done', result }),
    (error: unknown) =>
      report({
        kind: 'failed',
        reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  )
})
process.on('disconnect', () => process.exit(0))
