import { keyCheckPlace, keyCheckText } from './access/index.ts'
import type { Config } from './configuration/index.ts'
import { newTenantId, readKeyCheck, writeKeyCheck } from './database/queries/index.ts'
import type { Database } from './database/session/index.ts'
import { prepareSample, writeSample } from './sample/index.ts'
import { type SecretKeys, seal, unsealWithAny } from './security/index.ts'
import { StartRefused } from './start-failure.ts'
import type { Progress } from './start-progress.ts'

/**
 * On the first start of a database, saves a check value of the secret key and, in the embedded database, the sample brokerage,
 * in one transaction, so after an interruption the next start is the first one again. On later starts, refuses a key that cannot
 * decrypt the check value.
 */
export async function firstStart(
  database: Database,
  config: Pick<Config, 'databaseUrl' | 'sampleBrokerage'>,
  secretKeys: SecretKeys,
  now: number,
  progress: Progress,
): Promise<void> {
  const known = await database.outsideTenants(readKeyCheck)
  if (known !== null) return refuseOtherKey(secretKeys, known)
  const keyCheck = seal(secretKeys[0], keyCheckPlace, keyCheckText)
  if (config.databaseUrl !== null || !config.sampleBrokerage) {
    const first = await database.outsideTenants((transaction) => writeKeyCheck(transaction, keyCheck))
    // If another first start saved its key meanwhile, check ours against that key.
    return first ? undefined : firstStart(database, config, secretKeys, now, progress)
  }
  progress.say('creating a sample brokerage with two years of quotes')
  progress.step('computing its quotes')
  // Before the transaction begins, because the database ends a transaction that waits too long for its next statement.
  const sample = prepareSample(now)
  const tenant = newTenantId()
  const total = sample.laneCount.toLocaleString('en-US')
  const writing = (lanes: number) =>
    progress.step(`writing its quotes (${lanes.toLocaleString('en-US')} of ${total})`)
  writing(0)
  await database.inTenant(tenant, async (transaction) => {
    if (!(await writeKeyCheck(transaction, keyCheck)))
      throw new StartRefused('Another first start is in progress on this database: wait until it is ready.')
    await writeSample(transaction, tenant, database.identifiers, sample, writing)
  })
}

function refuseOtherKey(secretKeys: SecretKeys, known: Buffer): void {
  if (unsealWithAny(secretKeys, keyCheckPlace, known) === keyCheckText) return
  throw new StartRefused(
    'The secret key is not the one this database was created with, so no signing secret can be decrypted. Restore LANEWISE_SECRET_KEY (or secret-key in the data folder). While you replace a key, keep the old one in the list, after the new one, until npm run rotate-key is done. If there is no copy of it, docs/lost-key.md says how to go on.',
  )
}
