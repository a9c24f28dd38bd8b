import type { TestApp } from '#testing/test-app.ts'
import type { SeededTenants } from './seeded-tenants.ts'

/** Waits for background work: the call log is written, imports have finished, and bids are priced or were interrupted. */
export async function settled(app: TestApp, tenants: SeededTenants): Promise<void> {
  await app.settle()
  const owner = tenants.asOwner('A')
  for (let tries = 0; tries < 400; tries++) {
    const { rowCount } = await owner.query(
      `select from imports where status in ('running', 'undoing')
       union all select from bids where pricing_at > '2000-01-01' limit 1`,
    )
    if (rowCount === 0) return
    await new Promise((resume) => setTimeout(resume, 25))
  }
  throw new Error('An import or the pricing of a bid did not finish within 10 s.')
}
