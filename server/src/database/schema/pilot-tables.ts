import type { ColumnType, Generated } from 'kysely'

export interface PilotsTable {
  tenant_id: number
  active: boolean
  started_at: ColumnType<Date, Date, Date>
  started_by: number
  stopped_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  sealed_version: number
  announced_entry: Generated<number>
}

export interface PilotEntriesTable {
  tenant_id: number
  entry_number: number
  at: ColumnType<Date, Date, Date>
  kind: 'started' | 'stopped' | 'forecast' | 'outcome' | 'experiment'
  lane_id: number | null
  body: string
  hash: Buffer
}
