import type { AnswerOf } from '#contract/endpoint.ts'
import { invalid } from '#contract/errors.ts'
import type * as contract from '#contract/fuel.ts'
import type { DieselPrice } from '#engine/fuel-surcharge.ts'
import { counted } from '#engine/wording.ts'
import { recordEvent } from '../../audit/index.ts'
import { fuel } from '../../database/queries/index.ts'
import { bytesOfText, ImportFileError, readDieselFile } from '../../imports/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { weekAnswer } from './fuel-schedule.ts'

async function readPrices(text: string): Promise<DieselPrice[]> {
  try {
    return await readDieselFile(bytesOfText(text, 'its sheet "Data 1"'))
  } catch (error) {
    if (!(error instanceof ImportFileError)) throw error
    throw invalid(error.problems.map(({ detail }) => ({ pointer: '/text', code: 'file', detail })))
  }
}

/** Saves the weekly diesel prices of a file of the EIA. Repeating a file changes nothing. @throws Problem with what is wrong in the file */
export async function loadDieselPrices(
  call: Call<typeof contract.loadDieselPrices>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.loadDieselPrices>> {
  const { caller, body } = call
  const prices = await readPrices(body.text)
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
