import { roleAtLeast } from '#contract/endpoint.ts'
import { nextReportAt, reportWeek } from '#engine/report-week.ts'
import type { Books, BrokerageBook } from '../book/index.ts'
import type { Config } from '../configuration/index.ts'
import { people, readVersions, weeklyReports } from '../database/queries/index.ts'
import { type Database, runInBackground, type TenantId, withViewer } from '../database/session/index.ts'
import { hasMailServer, queueMails } from '../mail/index.ts'
import type { Log } from '../runtime/index.ts'
import { getsReport, weeklyReport } from './weekly-figures.ts'
import { reportMail } from './weekly-mail.ts'

const lookEveryMs = 20_000
/** How long one process may take to write the reports of a brokerage before another one begins. */
const leaseMs = 10 * 60_000
/** A report is written, and sent, for so long after its Monday: later it is no news. */
const lateMs = 2 * 86_400_000

interface ReporterParts {
  readonly config: Pick<Config, 'mail'>
  readonly database: Database
  readonly books: Books<BrokerageBook>
  readonly clock: () => number
  readonly log: Log
}

type Person = Awaited<ReturnType<typeof people.listUsers>>[number]

/**
 * Writes the weekly reports of all brokerages to the outbox, each when it is 07:00 on Monday there. Several instances share the work: one
 * claims a brokerage; if it is killed, another one continues after the lease. The outbox has one mail for a person and a week.
 *
 * `reportNow` does what is due at once. With `everyMs: null`, only that does.
 */
export function weeklyReporter(
  parts: ReporterParts,
  { everyMs = lookEveryMs }: { readonly everyMs?: number | null } = {},
) {
  const { database, clock, log } = parts
  let stopping = false
  let running: Promise<unknown> = Promise.resolve()
  const look = () => {
    running = running.then(() =>
      reportNow().catch((error: unknown) =>
        log.warn({ err: error }, 'weekly reports could not be looked for'),
      ),
    )
  }
  const timer = everyMs === null ? undefined : setInterval(look, everyMs)
  timer?.unref()

  async function reportNow(): Promise<void> {
    const due = await runInBackground(() =>
      database.acrossTenants((transaction) =>
        weeklyReports.tenantsWithDueReport(transaction, new Date(clock())),
      ),
    )
    for (const tenant of due) {
      if (stopping) return
      await runInBackground(() => reportFor(parts, tenant, () => stopping)).catch((error: unknown) =>
        log.warn({ err: error, tenant_id: tenant }, 'a weekly report was not written'),
      )
    }
  }

  return {
    reportNow,
    async drain() {
      stopping = true
      clearInterval(timer)
      await running
    },
  }
}

/** Writes the reports of a brokerage if they are due, and sets when the next ones are. */
async function reportFor(parts: ReporterParts, tenant: TenantId, isStopping: () => boolean): Promise<void> {
  const { database, clock } = parts
  const now = clock()
  const claimed = await database.inTenant(tenant, (transaction) =>
    weeklyReports.claimReport(transaction, tenant, {
      now: new Date(now),
      leaseEnd: new Date(now + leaseMs),
    }),
  )
  if (claimed === null) return
  const { dueAt, timeZone } = claimed
  if (dueAt !== null && dueAt.getTime() + lateMs > now) {
    const at = dueAt.getTime()
    for (const person of await recipients(parts, tenant)) {
      if (isStopping()) return
      await writeFor(parts, tenant, person, { at, timeZone })
    }
  }
  const next = new Date(nextReportAt(timeZone, now))
  await database.inTenant(tenant, (transaction) =>
    weeklyReports.advanceReport(transaction, tenant, claimed, next),
  )
}

/** The people who get the report. Nobody without a mail server. */
async function recipients({ config, database }: ReporterParts, tenant: TenantId): Promise<Person[]> {
  return database.inTenant(tenant, async (transaction) => {
    if (!(await hasMailServer(transaction, tenant, config))) return []
    const users = await people.listUsers(transaction, tenant)
    return users.filter(
      ({ status, role, weekly_report: choice }) => status === 'active' && getsReport(role, choice),
    )
  })
}

async function writeFor(
  parts: ReporterParts,
  tenant: TenantId,
  { user_id: userId, role }: Person,
  { at, timeZone }: { readonly at: number; readonly timeZone: string },
): Promise<void> {
  const { config, database, clock } = parts
  const seesAll = roleAtLeast(role, 'admin')
  // Before the figures are read: a customer who is hidden meanwhile makes the mail too old to be sent.
  const [versions, brokerage] = await database.inTenant(
    tenant,
    async (transaction) =>
      [await readVersions(transaction, tenant), await people.tenantOfSession(transaction, tenant)] as const,
  )
  const report = await withViewer(seesAll ? null : { userId }, () =>
    weeklyReport(parts, tenant, { at, timeZone }),
  )
  const { subject, text, html, picture } = reportMail(report, {
    brokerage: brokerage.name,
    publicUrl: config.mail.publicUrl,
  })
  const mail = {
    userId,
    kind: 'weekly-report',
    about: `week ${reportWeek(timeZone, at).firstDay}`,
    subject,
    body: text,
    html,
    picture,
    ...(seesAll ? { needsRole: 'admin' as const } : { accessVersion: versions.access }),
    endsAt: new Date(at + lateMs),
  }
  await database.inTenant(tenant, (transaction) =>
    queueMails(transaction, tenant, [mail], { config, now: clock() }),
  )
}
