import type { AnswerOf, QueryOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { marketFileSecondsMax } from '#contract/limits.ts'
import type { loadMarketFile } from '#contract/market-rates.ts'
import { type Doing, recordEvent } from '../../audit/index.ts'
import { people } from '../../database/queries/index.ts'
import {
  DatabaseUnavailable,
  LockTimeout,
  RequestDeadline,
  reasonOf,
  withDeadline,
} from '../../database/session/index.ts'
import { fileSettings, type MarketFile, readMarketFile } from '../../imports/index.ts'
import { countResults } from '../integration/pushed-items.ts'
import type { Parts } from '../parts.ts'
import { rateConversions } from '../performance/comparable-rates.ts'
import { readInTurn, type SentFile } from '../quotes/received-files.ts'
import {
  type CheckedRate,
  checkMarketRates,
  type MarketResult,
  storeMarketRates,
} from './market-rate-items.ts'

const fileErrorsMax = 100
/** Rows of a file per transaction. */
const rowsAtOnce = 500

interface RateFile extends SentFile {
  /** The call, for the audit log. */
  readonly doing: Doing
  readonly query: QueryOf<typeof loadMarketFile>
  /** When the rates were sent. They do not replace rates that were sent later. */
  readonly saidAt: Date
  /** Epoch milliseconds. */
  readonly now: number
}

/** Reads a file of market rates, checks its rows, and saves the valid ones, unless it is a dry run. */
export async function loadRateFile(
  sent: RateFile,
  { database, files, monotonic }: Pick<Parts, 'database' | 'files' | 'monotonic'>,
): Promise<AnswerOf<typeof loadMarketFile>> {
  const { doing, query, body, saidAt, now } = sent
  const { tenant } = doing.caller
  const { dry_run, map, sheet, ...defaults } = query
  const dryRun = dry_run === 'true'
  const { dates } = await database.inTenant(tenant, (transaction) =>
    people.fileDefaultsOf(transaction, tenant),
  )
  const file = await readInTurn(sent, { files }, async () => {
    const { dates: chosen, ...cells } = fileSettings({ map, sheet }, ['dates', 'encoding', 'hidden'])
    return readMarketFile(body, { ...defaults, dates: chosen }, { now, dates, cells })
  })
  const good = file.rows.filter(({ errors }) => errors.length === 0)
  const items = good.map(({ item }) => item)
  const conversions = await database.inTenant(tenant, (transaction) =>
    rateConversions(transaction, tenant, items),
  )
  const checked = await checkMarketRates(items, {
    enteredBy: 'file',
    saidAt,
    now,
    conversions,
    nameOf: (index) => `on line ${good[index]?.line}, which counts`,
  })
  const results = dryRun ? [] : await storeInPortions(doing, checked, { database, monotonic })
  const { created, updated, unchanged } = countResults(results)
  const wrong = checked.filter((one) => 'errors' in one)
  return {
    rows: file.rows.length,
    stored: !dryRun,
    columns: file.columns.map((column) => ({ ...column })),
    understood: [...file.understood],
    created,
    updated,
    unchanged,
    failed: file.rows.length - good.length + wrong.length,
    not_used: checked.filter((one) => 'row' in one && one.state !== 'usable').length,
    errors: errorsByLine(file, good, wrong).slice(0, fileErrorsMax),
  }
}

/**
 * Saves the valid rates in several transactions, each with the deadline of a request. With one deadline for all, a slow database
 * would never save the last rates, because each retry begins with the first. The first transaction records the file in the audit log.
 *
 * @throws Problem unavailable if some rates are stored and the others are not
 */
async function storeInPortions(
  doing: Doing,
  checked: readonly CheckedRate[],
  { database, monotonic }: Pick<Parts, 'database' | 'monotonic'>,
): Promise<MarketResult[]> {
  const { tenant } = doing.caller
  const rates = checked.filter((one) => 'row' in one).length
  const until = monotonic() + marketFileSecondsMax * 1000
  const results: MarketResult[] = []
  for (let from = 0; from < checked.length; from += rowsAtOnce) {
    if (from > 0 && monotonic() >= until) throw storedInPart(results, checked)
    try {
      results.push(
        ...(await withDeadline(new RequestDeadline(database.deadlines.requestMs), () =>
          database.inTenant(tenant, async (transaction) => {
            const stored = await storeMarketRates(transaction, tenant, checked.slice(from, from + rowsAtOnce))
            if (from === 0) await recordEvent(transaction, doing, 'market-file-loaded', { about: { rates } })
            return stored
          }),
        )),
      )
    } catch (error) {
      const isTransient = error instanceof DatabaseUnavailable || error instanceof LockTimeout
      throw isTransient && from > 0 ? storedInPart(results, checked, error) : error
    }
  }
  return results
}

/** @param cause why the next rates were not stored; absent if the time of the file was over */
function storedInPart(
  results: readonly MarketResult[],
  checked: readonly CheckedRate[],
  cause?: DatabaseUnavailable | LockTimeout,
) {
  const counted = (count: number) => count.toLocaleString('en-US')
  const stored = counted(results.filter(({ status }) => status === 200).length)
  const valid = counted(checked.filter((one) => 'row' in one).length)
  const isUnknown = cause instanceof DatabaseUnavailable && cause.outcomeUnknown
  const why =
    cause === undefined
      ? `The rates were not stored within ${marketFileSecondsMax} seconds.`
      : reasonOf(cause)
  const detail = `${why} ${stored} of the ${valid} valid rates of the file are stored${isUnknown ? ', and perhaps more' : ''}. Send the file again.`
  return problem('unavailable', detail, { headers: { 'Retry-After': '2' }, cause })
}

/** The errors of unreadable cells, and of rows that are wrong although their cells could be read. */
function errorsByLine(
  file: MarketFile,
  good: MarketFile['rows'],
  wrong: readonly Extract<CheckedRate, { errors: unknown }>[],
): AnswerOf<typeof loadMarketFile>['errors'] {
  return [
    ...file.rows.flatMap(({ line, errors: cells }) => cells.map((error) => ({ line, ...error }))),
    ...wrong.flatMap(({ index, errors: fields }) =>
      fields.map(({ pointer = '', detail }) => ({
        line: good[index]?.line ?? 0,
        field: pointer.replace(/^\//, ''),
        detail,
      })),
    ),
  ].sort((one, other) => one.line - other.line)
}
