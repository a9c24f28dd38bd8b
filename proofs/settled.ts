import type { QueryResult } from 'pg'
import type { TestApp } from '#testing/test-app.ts'
import { idsOf, type Label } from './seeded-ids.ts'
import type { SeededTenants } from './seeded-tenants.ts'

/** Waits for background work of a tenant: the call log is written and imports have finished. */
export async function settled(app: TestApp, tenants: SeededTenants, label: Label = 'A'): Promise<void> {
  await app.settle()
  // In a distributed database, the workers get the tenant only within a transaction.
  const busyImports = `begin; select enter_tenant('${idsOf(label).tenant}', 0, 0, 0);
    select from imports where tenant_id = ${idsOf(label).tenant} and status in ('running', 'undoing'); commit`
  for (let tries = 0; tries < 8_000; tries++) {
    const results = (await tenants.asOwner(label).query(busyImports)) as unknown as QueryResult[]
    if (results[2]?.rowCount === 0) return
    await new Promise((resume) => setTimeout(resume, 25))
  }
  throw new Error('An import did not finish within 200 s.')
}
