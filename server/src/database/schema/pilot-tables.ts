import type { ColumnType, Generated } from 'kysely'

/** The tables of pilots and of the checks of calibrations. */
export interface PilotTables {
  pilots: PilotsTable
  pilot_entries: PilotEntriesTable
  calibration_checks: CalibrationChecksTable
}

/** A running experiment. */
export interface StoredExperiment {
  readonly seed: string
  readonly quotes: number
  readonly started_at: string
}

interface PilotsTable {
  tenant_id: number
  active: boolean
  started_at: ColumnType<Date, Date, Date>
  started_by: number
  stopped_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  sealed_version: number
  announced_entry: Generated<number>
  announced_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  experiment: ColumnType<StoredExperiment | null, string | null | undefined, string | null>
}

interface PilotEntriesTable {
  tenant_id: number
  entry_number: number
  at: ColumnType<Date, Date, Date>
  kind: 'started' | 'stopped' | 'forecast' | 'outcome' | 'experiment'
  lane_id: number | null
  body: string
  hash: Buffer
}

interface CalibrationChecksTable {
  tenant_id: number
  checked_at: ColumnType<Date, Date, Date>
  checked_version: number
  state: 'too_few' | 'holds' | 'broken'
  decided: number
  won: number
  mean_forecast: number | null
  evidence: number
  broken_at: ColumnType<Date | null, Date | null | undefined, Date | null>
}
