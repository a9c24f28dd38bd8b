import type { TestApp } from '#testing/test-app.ts'
import type { SeededTenants } from './seeded-tenants.ts'

/** Waits for background work: the call log is written and imports have finished. */
export async function settled(app: TestApp, tenants: SeededTenants): Promise<void> {
  await app.settle()
  const owner = tenants.asOwner('A')
  for (let tries = 0; tries < 8_000; tries++) {
    const { rowCount } = await owner.query(
      "select from imports where status in ('running', 'undoing') limit 1",
    )
    if (rowCount === 0) return
    await new Promise((resume) => setTimeout(resume, 25))
  }
  throw new Error('An import did not finish within 200 s.')
}
