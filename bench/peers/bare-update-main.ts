import pg from 'pg'

/**
 * The fastest possible durable writes, for comparison: updates of single rows of `quotes` by primary key, one per transaction, on
 * several connections. Responds to each order over the IPC channel with the number of commits per second.
 */
interface Order {
  readonly seconds: number
  readonly rows: readonly (readonly [tenantId: number, quoteId: string])[]
}

const connections = Number(process.env.BENCH_CONNECTIONS ?? 16)
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: connections })
let next = 0

async function write({ rows }: Order, until: number): Promise<number> {
  const client = await pool.connect()
  let written = 0
  try {
    while (performance.now() < until) {
      const at = next++
      const [tenantId, quoteId] = rows[at % rows.length] ?? []
      await client.query({
        name: 'update',
        text: 'update quotes set customer_rate_cents = $3 where tenant_id = $1 and lane_id = $2',
        values: [tenantId, quoteId, 100_000 + (at % 100_000)],
      })
      written++
    }
    return written
  } finally {
    client.release()
  }
}

process.on('message', (order: Order) => {
  const began = performance.now()
  Promise.all(Array.from({ length: connections }, () => write(order, began + order.seconds * 1000))).then(
    (counts) => {
      const written = counts.reduce((sum, count) => sum + count, 0)
      process.send?.({ perSecond: written / ((performance.now() - began) / 1000) })
    },
    (error: unknown) => process.send?.({ failed: String(error) }),
  )
})
process.on('disconnect', () => process.exit(0))
process.stdout.write('ready\n')
