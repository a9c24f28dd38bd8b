import type { BenchRow } from './bench-row.ts'
import { insightRow, markupRow } from './rows/reads.ts'

/** Every row of the benchmark, in the order of a run. */
export const allRows: readonly BenchRow[] = [markupRow, insightRow]
