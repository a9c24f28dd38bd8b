import type { Static } from 'typebox'
import type { AnswerOf } from '#contract/endpoint.ts'
import * as contract from '#contract/weekly-report.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { nextReportAt } from '#engine/report-week.ts'
import { people, weeklyReports } from '../../database/queries/index.ts'
import { hasMailServer } from '../../mail/index.ts'
import { getsReport, type WeeklyReport, weeklyReport } from '../../reports/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'

function weekAnswer(figures: WeeklyReport['now']): Static<typeof contract.ReportedWeek> {
  return {
    quotes: figures.quotes,
    win_rate_pct: figures.winRatePct,
    margin: dollarsIfKnown(figures.marginCents),
    margin_pct: figures.marginPct,
  }
}

async function reportAnswer(
  { caller: { tenant, userId, role }, now }: Pick<Call<typeof contract.getWeeklyReport>, 'caller' | 'now'>,
  parts: Parts,
): Promise<AnswerOf<typeof contract.getWeeklyReport>> {
  const [timeZone, choice, sends] = await parts.database.inTenant(
    tenant,
    async (transaction) =>
      [
        await people.timeZoneOf(transaction, tenant),
        await weeklyReports.reportChoice(transaction, tenant, userId),
        await hasMailServer(transaction, tenant, parts.config),
      ] as const,
  )
  const report = await weeklyReport(parts, tenant, { at: now, timeZone })
  return {
    mail: getsReport(role, choice),
    sends,
    next_at: new Date(nextReportAt(timeZone, now)).toISOString(),
    first_day: report.week.firstDay,
    last_day: report.week.lastDay,
    week: weekAnswer(report.now),
    week_before: weekAnswer(report.before),
    leak:
      report.leak === null ? null : { lane: report.leak.lane, lost: dollarsFromCents(report.leak.lostCents) },
    lanes: report.moved.map(({ lane, quotes, marginCents, beforeCents }) => ({
      lane,
      quotes,
      margin: dollarsFromCents(marginCents),
      margin_before: dollarsFromCents(beforeCents),
    })),
    margins: report.margins.map(dollarsIfKnown),
    amounts: report.basis,
  }
}

export const weeklyReportEndpoints: ServedEndpoint[] = [
  serve(contract.getWeeklyReport, reportAnswer),

  serve(contract.chooseWeeklyReport, async (call, parts) => {
    const { tenant, userId } = call.caller
    await parts.database.inTenant(tenant, (transaction) =>
      weeklyReports.chooseReport(transaction, tenant, userId, call.body.mail),
    )
    return reportAnswer(call, parts)
  }),
]
