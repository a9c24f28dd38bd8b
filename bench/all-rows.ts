import type { BenchRow } from './bench-row.ts'
import { atWorkRow } from './rows/at-work.ts'
import { firstAnswerRow } from './rows/first-answer.ts'
import { freshnessRow } from './rows/freshness.ts'
import { giantLaneRow } from './rows/giant-lane.ts'
import { growthRow } from './rows/growth.ts'
import { importRow } from './rows/import.ts'
import { memoryRow } from './rows/memory.ts'
import { insightRow, markupRow } from './rows/reads.ts'
import { startRow } from './rows/start.ts'
import { tailRow } from './rows/tail.ts'
import { teamsRow } from './rows/teams.ts'
import { updatesRow } from './rows/updates.ts'

/** All rows of the benchmark, in the order of a run. */
export const allRows: readonly BenchRow[] = [
  atWorkRow,
  markupRow,
  insightRow,
  tailRow,
  giantLaneRow,
  firstAnswerRow,
  updatesRow,
  freshnessRow,
  importRow,
  growthRow,
  teamsRow,
  memoryRow,
  // Must come last, because it stops the database of the three rows before it.
  startRow,
]
