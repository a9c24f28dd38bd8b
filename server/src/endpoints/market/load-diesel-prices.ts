import type { AnswerOf } from '#contract/endpoint.ts'
import type * as contract from '#contract/fuel.ts'
import { counted } from '#engine/wording.ts'
import { recordEvent } from '../../audit/index.ts'
import { fuel, people } from '../../database/queries/index.ts'
import { fileSettings, readDieselFile } from '../../imports/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { readInTurn } from '../quotes/received-files.ts'
import { weekAnswer } from './fuel-schedule.ts'

/** Saves the weekly diesel prices of a file of the EIA. Repeating a file changes nothing. @throws Problem with what is wrong in the file */
export async function loadDieselPrices(
  call: Call<typeof contract.loadDieselPrices>,
  { database, files }: Pick<Parts, 'database' | 'files'>,
): Promise<AnswerOf<typeof contract.loadDieselPrices>> {
  const { caller, query, body } = call
  const { dates } = await database.inTenant(caller.tenant, (transaction) =>
    people.fileDefaultsOf(transaction, caller.tenant),
  )
  const prices = await readInTurn(call, { files }, async () =>
    readDieselFile(body, { ...fileSettings(query, ['encoding', 'hidden']), order: dates.order }),
  )
  const [first, last] = [prices.at(0), prices.at(-1)]
  if (first === undefined || last === undefined) throw new Error('A file without prices is refused before')
  return database.inTenant(caller.tenant, async (transaction) => {
    const changed = await fuel.saveDieselPrices(transaction, caller.tenant, prices)
    if (changed > 0) {
      const after = { diesel_prices: `${counted(changed, 'week')} of a file up to ${last.week}` }
      await recordEvent(transaction, call, 'settings-changed', { about: { before: {}, after } })
    }
    return { weeks: prices.length, changed, first: weekAnswer(first), last: weekAnswer(last) }
  })
}
