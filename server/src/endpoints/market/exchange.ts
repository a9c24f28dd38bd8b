import type { BodyOf } from '#contract/endpoint.ts'
import { invalid } from '#contract/errors.ts'
import { addExchangeRates, listExchangeRates } from '#contract/exchange.ts'
import { exchangeRatesShown } from '#contract/limits.ts'
import type { ExchangeRate } from '#engine/exchange-days.ts'
import { counted } from '#engine/wording.ts'
import { recordEvent } from '../../audit/index.ts'
import { conversions } from '../../database/queries/index.ts'
import { bytesOfText, ImportFileError, readExchangeFile } from '../../imports/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'

const exchangeRateAnswer = ({ day, usdPerCad }: ExchangeRate) => ({ day, usd_per_cad: usdPerCad })

/** The exchange rates of a call, oldest day first. */
async function readRates({ rates, text }: BodyOf<typeof addExchangeRates>): Promise<ExchangeRate[]> {
  const wrong = (pointer: string, code: string, detail: string) => invalid([{ pointer, code, detail }])
  if ((rates === undefined) === (text === undefined)) {
    throw wrong('/rates', 'required', 'Send either rates or text.')
  }
  if (text !== undefined) {
    try {
      return await readExchangeFile(bytesOfText(text))
    } catch (error) {
      if (!(error instanceof ImportFileError)) throw error
      throw invalid(error.problems.map(({ detail }) => ({ pointer: '/text', code: 'file', detail })))
    }
  }
  const days = new Set<string>()
  for (const [index, { day }] of (rates ?? []).entries()) {
    if (days.has(day))
      throw wrong(`/rates/${index}/day`, 'repeated', `${day} is in the list twice; keep one of them.`)
    days.add(day)
  }
  return (rates ?? [])
    .map(({ day, usd_per_cad: usdPerCad }) => ({ day, usdPerCad }))
    .sort((one, other) => (one.day < other.day ? -1 : 1))
}

export const exchangeEndpoints: ServedEndpoint[] = [
  serve(listExchangeRates, async ({ caller: { tenant } }, { database }) =>
    database.inTenant(tenant, async (transaction) => ({
      rates: (await conversions.listExchangeRates(transaction, tenant, exchangeRatesShown)).map(
        exchangeRateAnswer,
      ),
    })),
  ),

  serve(addExchangeRates, async (call, { database }) => {
    const { caller, body } = call
    const rates = await readRates(body)
    const [first, last] = [rates.at(0), rates.at(-1)]
    if (first === undefined || last === undefined)
      throw new Error('A call without exchange rates is refused before')
    return database.inTenant(caller.tenant, async (transaction) => {
      const changed = await conversions.saveExchangeRates(transaction, caller.tenant, rates)
      if (changed > 0) {
        const after = { exchange_rates: `${counted(changed, 'day')} up to ${last.day}` }
        await recordEvent(transaction, call, 'settings-changed', { about: { before: {}, after } })
      }
      return { days: rates.length, changed, first: exchangeRateAnswer(first), last: exchangeRateAnswer(last) }
    })
  }),
]
