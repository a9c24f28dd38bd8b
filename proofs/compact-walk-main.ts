import { appOn } from '#testing/app-on-database.ts'
import type { TestDatabase } from '#testing/cloned-database.ts'
import { endlessThread, walkAlone, walkRoutes } from './route-walk.ts'
import { seededTenants } from './seeded-tenants.ts'

/**
 * Walks through the routes as tenant B only, and prints the faults. `mutation-walk.ts` runs it in mutants of the program.
 * The argument is the database as JSON.
 */
const database = JSON.parse(process.argv[2] ?? '') as Omit<TestDatabase, 'drop'>
const app = await appOn({ ...database, drop: async () => {} }, { backtestThread: endlessThread })
const tenants = await seededTenants(app)
const routes = await walkRoutes(app, tenants, ['service-B', 'owner-B'])
const alone = await walkAlone(app, tenants)
await tenants.close()
await app.close()
process.stdout.write(`FOUND ${JSON.stringify([...routes.faults, ...alone.faults])}\n`)
