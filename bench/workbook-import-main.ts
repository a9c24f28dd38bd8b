import { resourceUsage } from 'node:process'
import { tenantId } from '#server/database/session/index.ts'
import { importOne } from './scale/import-one.ts'
import { withDatabase } from './scale/with-database.ts'

/** Imports one file in a process of its own, so that its peak of memory is that of the import. */
const { DATABASE_URL: connectionString = '' } = process.env

async function answer({ file, tenant }: { readonly file: Uint8Array; readonly tenant: number }) {
  const before = { cpu: process.cpuUsage(), bytes: process.memoryUsage.rss() }
  const added = await withDatabase({ connectionString }, (database) =>
    importOne(database, tenantId(tenant), Buffer.from(file)),
  )
  const { user, system } = process.cpuUsage(before.cpu)
  process.send?.({
    added,
    seconds: (user + system) / 1e6,
    growthBytes: resourceUsage().maxRSS * 1024 - before.bytes,
  })
}

process.once('message', (question: Parameters<typeof answer>[0]) => void answer(question))
console.log('ready')
