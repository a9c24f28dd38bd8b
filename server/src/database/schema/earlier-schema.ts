/**
 * The migrations from before the baseline, and those whose file was changed and renamed before the first release. A database
 * that has any of them was created by an earlier version, and this version cannot upgrade it.
 */
const earlierMigrations: ReadonlySet<string> = new Set([
  '0001-facts.sql',
  '0002-operators.sql',
  '0003-advice.sql',
  '0004-undo.sql',
  '0005-smaller-rights.sql',
  '0007-integration-calls.sql',
  '0008-search.sql',
  '0011-audit-log.sql',
  '0012-request-key.sql',
  '0013-tenant-versions.sql',
  '0014-quote-counts.sql',
  '0015-note-calls.sql',
  '0016-bookings.sql',
  '0017-instances.sql',
  '0018-taken-numbers.sql',
  '0019-distributed.sql',
  '0020-events.sql',
  '0021-erasures.sql',
  '0022-of-each.sql',
  '0023-covered-corridor.sql',
  '0024-keyed-plans.sql',
  '0025-counted-lanes.sql',
  '0026-one-corridor-index.sql',
  '0027-cancellations.sql',
  '0028-stamps.sql',
  '0029-one-shipments-index.sql',
  '0030-undoing.sql',
  '0031-imported-again.sql',
  '0032-quote-changes.sql',
  '0033-corridor-without-counts.sql',
  '0034-fewer-lane-indexes.sql',
  '0035-booking-fields.sql',
  '0010-usage.sql',
  '0010-usage-and-sandboxes.sql',
  '0010-usage-sandboxes.sql',
  '0014-pilot.sql',
])

/**
 * The last migrations of earlier versions. Their tables and columns exist in the baseline, too, so that their exports can be
 * imported.
 */
export const lastEarlierMigrations: ReadonlySet<string> = new Set([
  '0035-booking-fields.sql',
  '0010-usage.sql',
  '0010-usage-and-sandboxes.sql',
  '0010-usage-sandboxes.sql',
  '0014-pilot.sql',
])
/** The last migration of the baseline. */
export const lastBaselineMigration = '0010-usage-and-sandbox.sql'

/** The database was created by a version from before the baseline. The message names the commands that move a brokerage. */
export class EarlierSchema extends Error {
  static readonly remedy =
    'Move each brokerage to an empty database: with the earlier version, run "npm run tenant -- export NAME FOLDER"; with this version, run "npm run tenant -- import FOLDER". See docs/moving.md.'

  /** The migration by which the earlier version was recognized. */
  readonly found: string

  constructor(found: string) {
    super(
      `The database was created by an earlier version of Lanewise (it has the migration ${found}), and this version cannot upgrade it. ${EarlierSchema.remedy}`,
    )
    this.name = 'EarlierSchema'
    this.found = found
  }
}

/** @throws EarlierSchema if one of the names is a migration from before the baseline */
export function refuseEarlierSchema(applied: readonly string[]): void {
  const found = applied.find((name) => earlierMigrations.has(name))
  if (found !== undefined) throw new EarlierSchema(found)
}
