import type { AnswerOf } from '#contract/endpoint.ts'
import { pilotEntriesPageMax } from '#contract/limits.ts'
import {
  exportPilot,
  getCalibration,
  getPilot,
  getPilotReport,
  listPilotEntries,
  switchExperiment,
  switchPilot,
} from '#contract/pilot.ts'
import { calibrationSentence } from '#engine/calibration-alarm.ts'
import type { PilotReport, PilotScore } from '#engine/pilot/pilot-report.ts'
import { csvHead, csvLines } from '../../csv/index.ts'
import {
  type CalibrationCheckRow,
  findCalibrationCheck,
  findPilot,
  newestOfChain,
  pilotEntriesAfter,
} from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { Database, TenantId } from '../../database/session/index.ts'
import { switchExperiment as experimentNow, switchPilot as switchNow } from '../../pilot/index.ts'
import { type CsvFile, type ServedEndpoint, serve } from '../endpoint-call.ts'
import { refuseWithHiddenCustomers } from '../quotes/hidden-customers.ts'

async function headAnswer(transaction: TenantTransaction, tenant: TenantId) {
  const head = await newestOfChain(transaction, tenant, 'pilot')
  return head === null
    ? null
    : { entry: head.entry_number, at: head.at.toISOString(), hash: head.hash.toString('hex') }
}

async function pilotAnswer(transaction: TenantTransaction, tenant: TenantId) {
  const pilot = await findPilot(transaction, tenant)
  const experiment = pilot?.experiment ?? null
  return {
    active: pilot?.active ?? false,
    started_at: pilot?.started_at.toISOString() ?? null,
    started_by: pilot?.started_by ?? null,
    stopped_at: pilot?.stopped_at?.toISOString() ?? null,
    head: await headAnswer(transaction, tenant),
    experiment: experiment === null ? null : { quotes: experiment.quotes, started_at: experiment.started_at },
  }
}

type EntryRow = Awaited<ReturnType<typeof pilotEntriesAfter>>[number]

const entryAnswer = (row: EntryRow) => ({
  entry: row.entry_number,
  at: row.at.toISOString(),
  kind: row.kind,
  lane_id: row.lane_id,
  body: row.body,
  hash: row.hash.toString('hex'),
})

const columns = ['Entry', 'At', 'Kind', 'Lane id', 'Body', 'Hash']

/** The chain as CSV, in order. Each piece is read in its own transaction. */
async function* csvOf(database: Database, tenant: TenantId): CsvFile['text'] {
  let head = csvHead(columns)
  let after = 0
  for (;;) {
    const from = after
    const rows = await database.inTenant(tenant, (transaction) =>
      pilotEntriesAfter(transaction, tenant, from, pilotEntriesPageMax),
    )
    yield head + csvLines(rows.map((row) => Object.values(entryAnswer(row))))
    const last = rows.at(-1)
    if (rows.length < pilotEntriesPageMax || last === undefined) return
    head = ''
    after = last.entry_number
  }
}

function experimentAnswer(
  experiment: PilotReport['experiment'],
): AnswerOf<typeof getPilotReport>['experiment'] {
  if (experiment === null) return null
  const { result, keptApart, ...others } = experiment
  const rest = { ...others, kept_apart: keptApart }
  if (result === null) return { ...rest, result }
  const arm = ({ quotes, earned }: { quotes: number; earned: number }) => ({
    quotes,
    earned: toCents(earned),
  })
  return {
    ...rest,
    result: {
      low: arm(result.low),
      high: arm(result.high),
      gain: toCents(result.gain),
      range_95: { low: toCents(result.range95.low), high: toCents(result.range95.high) },
    },
  }
}

function calibrationAnswer(check: CalibrationCheckRow | null): AnswerOf<typeof getCalibration> {
  if (check === null) {
    return {
      state: 'unchecked',
      checked_at: null,
      broken_since: null,
      decided: 0,
      won: 0,
      mean_forecast: null,
      evidence: 0,
      sentence: 'The calibration was not checked yet. It is checked daily, from the first changed quote on.',
    }
  }
  const { state, decided, won, mean_forecast: meanForecast, evidence } = check
  return {
    state,
    checked_at: check.checked_at.toISOString(),
    broken_since: check.broken_at?.toISOString() ?? null,
    decided,
    won,
    mean_forecast: meanForecast,
    evidence,
    sentence: calibrationSentence({ state, decided, won, meanForecast, evidence }),
  }
}

const toCents = (dollars: number) => Math.round(dollars * 100) / 100

function pilotReportAnswer(report: PilotReport): AnswerOf<typeof getPilotReport> {
  const { scores, better, dollars } = report
  return {
    entries: report.entries,
    forecasts: report.forecasts,
    scored: report.scored,
    won: report.won,
    lanes: report.lanes,
    unscored: { ...report.unscored },
    corrections: report.corrections,
    kept_apart: report.keptApart,
    scores:
      scores === null
        ? null
        : {
            model: scoreAnswer(scores.model),
            lane_rate: scoreAnswer(scores.lane_rate),
            rep_rate: scoreAnswer(scores.rep_rate),
            overall: scoreAnswer(scores.overall),
          },
    better_than_lane_rate: better === null ? null : { brier: better.brier, range_95: better.range },
    mean_forecast: report.meanForecast,
    experiment: experimentAnswer(report.experiment),
    calibration: report.reliability.map(({ count, forecast, came }) => ({
      quotes: count,
      forecast,
      won: came,
    })),
    dollars:
      dollars === null
        ? null
        : {
            quotes: dollars.quotes,
            lanes: dollars.lanes,
            expected_margin_quoted: toCents(dollars.quoted),
            expected_margin_best: toCents(dollars.best),
            expected_margin_going: toCents(dollars.going),
            margin_earned: toCents(dollars.earned),
            difference: toCents(dollars.difference),
            range_95:
              dollars.range === null
                ? null
                : { low: toCents(dollars.range.low), high: toCents(dollars.range.high) },
          },
  }
}

const scoreAnswer = ({ brier, logLoss, calibrationError }: PilotScore) => ({
  brier,
  log_loss: logLoss,
  calibration_error: calibrationError,
})

export const pilotEndpoints: ServedEndpoint[] = [
  serve(getPilot, async ({ caller }, { database }) =>
    database.inTenant(caller.tenant, (transaction) => pilotAnswer(transaction, caller.tenant)),
  ),

  serve(switchPilot, async (call, { database }) =>
    database.inTenant(call.caller.tenant, async (transaction) => {
      await switchNow(transaction, call, call.body.active)
      return pilotAnswer(transaction, call.caller.tenant)
    }),
  ),

  serve(switchExperiment, async (call, { database }) =>
    database.inTenant(call.caller.tenant, async (transaction) => {
      await experimentNow(transaction, call, call.body.quotes ?? null)
      return pilotAnswer(transaction, call.caller.tenant)
    }),
  ),

  serve(getCalibration, async ({ caller }, { database }) =>
    database.inTenant(caller.tenant, async (transaction) =>
      calibrationAnswer(await findCalibrationCheck(transaction, caller.tenant)),
    ),
  ),

  serve(getPilotReport, async ({ caller }, { pilotReports }) =>
    pilotReportAnswer(await pilotReports.read(caller.tenant)),
  ),

  serve(listPilotEntries, async ({ caller, query }, { database }) => {
    const limit = query.limit ?? pilotEntriesPageMax
    return database.inTenant(caller.tenant, async (transaction) => {
      await refuseWithHiddenCustomers(transaction, caller.tenant, 'A pilot shows')
      const rows = await pilotEntriesAfter(transaction, caller.tenant, query.after ?? 0, limit + 1)
      const page = rows.slice(0, limit)
      return {
        entries: page.map(entryAnswer),
        next_after: rows.length > limit ? (page.at(-1)?.entry_number ?? null) : null,
        // Read last, so that no entry of the page is newer than the head.
        head: await headAnswer(transaction, caller.tenant),
      }
    })
  }),

  serve(exportPilot, async ({ caller, now }, { database }) => {
    await database.inTenant(caller.tenant, (transaction) =>
      refuseWithHiddenCustomers(transaction, caller.tenant, 'A pilot shows'),
    )
    return {
      fileName: `lanewise-pilot-${new Date(now).toISOString().slice(0, 10)}.csv`,
      text: csvOf(database, caller.tenant),
    }
  }),
]
