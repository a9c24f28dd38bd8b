import type { AnswerOf, BodyOf } from '#contract/endpoint.ts'
import { invalid } from '#contract/errors.ts'
import { addExchangeRates, listExchangeRates, loadExchangeFile } from '#contract/exchange.ts'
import { exchangeRatesShown } from '#contract/limits.ts'
import type { ExchangeRate } from '#engine/exchange-days.ts'
import { counted } from '#engine/wording.ts'
import { recordEvent } from '../../audit/index.ts'
import { conversions, people } from '../../database/queries/index.ts'
import { fileSettings, readExchangeFile } from '../../imports/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { placeForFile, readInTurn } from '../quotes/received-files.ts'

const exchangeRateAnswer = ({ day, usdPerCad }: ExchangeRate) => ({ day, usd_per_cad: usdPerCad })

/**
 * The exchange rates of a list, oldest day first.
 *
 * @throws Problem validation if a day is in the list twice
 */
function ofList({ rates }: BodyOf<typeof addExchangeRates>): ExchangeRate[] {
  const days = new Set<string>()
  for (const [index, { day }] of rates.entries()) {
    if (days.has(day)) {
      const detail = `${day} is in the list twice; keep one of them.`
      throw invalid([{ pointer: `/rates/${index}/day`, code: 'repeated', detail }])
    }
    days.add(day)
  }
  return rates
    .map(({ day, usd_per_cad: usdPerCad }) => ({ day, usdPerCad }))
    .sort((one, other) => (one.day < other.day ? -1 : 1))
}

async function save(
  call: Call<typeof addExchangeRates | typeof loadExchangeFile>,
  rates: readonly ExchangeRate[],
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof addExchangeRates>> {
  const { tenant } = call.caller
  const [first, last] = [rates.at(0), rates.at(-1)]
  if (first === undefined || last === undefined)
    throw new Error('A call without exchange rates is refused before')
  return database.inTenant(tenant, async (transaction) => {
    const changed = await conversions.saveExchangeRates(transaction, tenant, rates)
    if (changed > 0) {
      const after = { exchange_rates: `${counted(changed, 'day')} up to ${last.day}` }
      await recordEvent(transaction, call, 'settings-changed', { about: { before: {}, after } })
    }
    return { days: rates.length, changed, first: exchangeRateAnswer(first), last: exchangeRateAnswer(last) }
  })
}

export const exchangeEndpoints: ServedEndpoint[] = [
  serve(listExchangeRates, async ({ caller: { tenant } }, { database }) =>
    database.inTenant(tenant, async (transaction) => ({
      rates: (await conversions.listExchangeRates(transaction, tenant, exchangeRatesShown)).map(
        exchangeRateAnswer,
      ),
    })),
  ),

  serve(addExchangeRates, async (call, parts) => save(call, ofList(call.body), parts)),

  serve(
    loadExchangeFile,
    async (call, parts) => {
      const { body, caller, query } = call
      const { dates } = await parts.database.inTenant(caller.tenant, (transaction) =>
        people.fileDefaultsOf(transaction, caller.tenant),
      )
      const rates = await readInTurn(call, parts, async () =>
        readExchangeFile(body, { ...fileSettings(query, ['encoding', 'hidden']), order: dates.order }),
      )
      return save(call, rates, parts)
    },
    { beforeBody: placeForFile },
  ),
]
