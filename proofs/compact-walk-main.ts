import { appOn } from '#testing/app-on-database.ts'
import type { TestDatabase } from '#testing/cloned-database.ts'
import { endlessThread, walkAlone, walkRoutes } from './route-walk.ts'
import { seededTenants } from './seeded-tenants.ts'

/**
 * The walk through the routes as brokerage B alone, for a copy of the program that somebody has taken something out of.
 * It is given a database, and prints what it found.
 */
const given = JSON.parse(process.argv[2] ?? '') as Omit<TestDatabase, 'drop'>
const app = await appOn({ ...given, drop: async () => {} }, { backtestThread: endlessThread })
const tenants = await seededTenants(app)
const routes = await walkRoutes(app, tenants, ['service-B', 'owner-B'])
const alone = await walkAlone(app, tenants)
await tenants.close()
await app.close()
process.stdout.write(`FOUND ${JSON.stringify([...routes.faults, ...alone.faults])}\n`)
