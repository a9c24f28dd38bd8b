import type { BenchRow } from './bench-row.ts'
import { atWorkRow } from './rows/at-work.ts'
import { importRow } from './rows/import.ts'
import { memoryRow } from './rows/memory.ts'
import { insightRow, markupRow } from './rows/reads.ts'
import { updatesRow } from './rows/updates.ts'
import { workbookRow } from './rows/workbook.ts'

/** All rows of the benchmark, in the order of a run. */
export const allRows: readonly BenchRow[] = [
  atWorkRow,
  markupRow,
  insightRow,
  updatesRow,
  importRow,
  workbookRow,
  memoryRow,
]
