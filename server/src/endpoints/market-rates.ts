import type { AnswerOf } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import { batchSecondsMax } from '#contract/limits.ts'
import {
  addMarketRates,
  eraseMarketSource,
  listMarketRates,
  loadMarketFile,
  pushMarketRates,
} from '#contract/market-rates.ts'
import { marketRateState } from '#engine/market-rate.ts'
import { recordEvent } from '../audit/index.ts'
import { type MarketRateRow, marketRates } from '../database/queries/index.ts'
import { ImportFileError, readMarketFile } from '../imports/index.ts'
import { readMarketEnds } from '../lanes/index.ts'
import { inHundreds, permitsLeftByPushes } from '../limits/index.ts'
import { comparableRate, rateConversions } from './comparable-rates.ts'
import { type ServedEndpoint, serve } from './endpoint-call.ts'
import {
  type CheckedRate,
  checkMarketRates,
  type MarketResult,
  refusedRate,
  storeMarketRates,
} from './market-rate-items.ts'
import { rateAnswer } from './market-reference.ts'
import { countResults } from './pushed-items.ts'

const listedDefault = 50
const fileErrorsMax = 100
/** Rows of a file per transaction. */
const rowsAtOnce = 500

function notReached({ index }: CheckedRate): MarketResult {
  const detail = `This rate was not reached within ${batchSecondsMax} seconds. Send it again.`
  return { index, status: 503, detail }
}

export const marketRateEndpoints: ServedEndpoint[] = [
  serve(pushMarketRates, async ({ caller, body, signed, now }, parts) => {
    const { tenant } = caller
    const saidAt = new Date(signed.timestampSeconds * 1000)
    const conversions = await parts.database.inTenant(tenant, (transaction) =>
      rateConversions(transaction, tenant, objectsOf(body.rates)),
    )
    const checked = checkMarketRates(body.rates, { enteredBy: 'push', saidAt, now, conversions })
    const results = await inHundreds<CheckedRate, MarketResult>(
      checked,
      async (hundred, _, inTime) => {
        if (hundred.every((one) => 'errors' in one)) {
          return hundred.flatMap((one) => ('errors' in one ? refusedRate(one.index, one.errors) : []))
        }
        if (!inTime()) return hundred.map(notReached)
        return parts.database.inTenant(tenant, (transaction) =>
          storeMarketRates(transaction, tenant, hundred),
        )
      },
      tenant,
      parts,
      permitsLeftByPushes,
    )
    return { ...countResults(results), results }
  }),

  serve(addMarketRates, async ({ caller, body, now }, { database }) => {
    const results = await database.inTenant(caller.tenant, async (transaction) => {
      const conversions = await rateConversions(transaction, caller.tenant, objectsOf(body.rates))
      const by = { enteredBy: 'hand', saidAt: new Date(now), now, conversions } as const
      return storeMarketRates(transaction, caller.tenant, checkMarketRates(body.rates, by))
    })
    return { ...countResults(results), results }
  }),

  serve(loadMarketFile, async ({ caller, body, now }, { database }) => {
    const { text, dry_run: dryRun = false, ...defaults } = body
    const file = await readFile(text, defaults, now)
    const good = file.rows.filter(({ errors }) => errors.length === 0)
    const conversions = await database.inTenant(caller.tenant, (transaction) =>
      rateConversions(
        transaction,
        caller.tenant,
        good.map(({ item }) => item),
      ),
    )
    const checked = checkMarketRates(
      good.map(({ item }) => item),
      {
        enteredBy: 'file',
        saidAt: new Date(now),
        now,
        conversions,
        nameOf: (index) => `on line ${good[index]?.line}, which counts`,
      },
    )
    const results: MarketResult[] = []
    for (let from = 0; from < checked.length && !dryRun; from += rowsAtOnce) {
      results.push(
        ...(await database.inTenant(caller.tenant, (transaction) =>
          storeMarketRates(transaction, caller.tenant, checked.slice(from, from + rowsAtOnce)),
        )),
      )
    }
    const wrong = checked.flatMap((one) => ('errors' in one ? one : []))
    const errors = [
      ...file.rows.flatMap(({ line, errors: cells }) => cells.map((error) => ({ line, ...error }))),
      ...wrong.flatMap(({ index, errors: fields }) =>
        fields.map(({ pointer = '', detail }) => ({
          line: good[index]?.line ?? 0,
          field: pointer.replace(/^\//, ''),
          detail,
        })),
      ),
    ].sort((one, other) => one.line - other.line)
    const { created, updated, unchanged } = countResults(results)
    return {
      rows: file.rows.length,
      stored: !dryRun,
      columns: file.columns.map((column) => ({ ...column })),
      notes: [...file.notes],
      created,
      updated,
      unchanged,
      failed: file.rows.length - good.length + wrong.length,
      not_used: checked.filter((one) => 'row' in one && one.state !== 'usable').length,
      errors: errors.slice(0, fileErrorsMax),
    }
  }),

  serve(
    listMarketRates,
    async ({ caller, query, now }, { database }): Promise<AnswerOf<typeof listMarketRates>> =>
      database.inTenant(caller.tenant, async (transaction) => {
        const sources = await marketRates.listMarketSources(transaction, caller.tenant)
        const rows = await marketRates.newestMarketRates(
          transaction,
          caller.tenant,
          query.source ?? null,
          query.limit ?? listedDefault,
        )
        const conversions = await rateConversions(transaction, caller.tenant, rows)
        return {
          sources: sources.map(({ source, rates, newest, oldest }) => ({
            source,
            rates,
            newest_as_of: newest.toISOString(),
            oldest_as_of: oldest.toISOString(),
          })),
          rates: rows.map((row) => {
            const rate = comparableRate(row, conversions, milesBetween(row))
            return rateAnswer(rate, marketRateState(rate, { at: now, basis: conversions.basis }), now)
          }),
        }
      }),
  ),

  serve(eraseMarketSource, async (call, { database, marketAdapters }) => {
    const { caller, params } = call
    const answer = await database.inTenant(caller.tenant, async (transaction) => {
      const erased = await marketRates.eraseMarketSource(transaction, caller.tenant, params.source)
      if (erased === 0) {
        throw problem(
          'not-found',
          `There are no market rates of the source ${JSON.stringify(params.source)}.`,
        )
      }
      await recordEvent(transaction, call, 'market-source-erased', {
        about: { source: params.source, rates: erased },
      })
      return { source: params.source, erased }
    })
    marketAdapters?.forget(caller.tenant)
    return answer
  }),
]

/** The sent rates that are objects: the others are refused one by one. */
const objectsOf = (rates: readonly unknown[]) =>
  rates.filter((one): one is object => typeof one === 'object' && one !== null)

/** The miles of a stored rate; null for an area without a place. */
function milesBetween({ scope, origin, destination }: MarketRateRow): number | null {
  return (
    readMarketEnds(scope, { origin, destination }, (field) => ({ pointer: `/${field}` }), [])?.miles ?? null
  )
}

async function readFile(...given: Parameters<typeof readMarketFile>): ReturnType<typeof readMarketFile> {
  try {
    return await readMarketFile(...given)
  } catch (error) {
    if (!(error instanceof ImportFileError)) throw error
    throw invalid(error.problems.map(({ detail }) => ({ pointer: '/text', code: 'file', detail })))
  }
}
