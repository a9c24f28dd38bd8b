import type { Bar } from '../evaluation/src/bar.ts'
import type { LoadGenerator } from './processes.ts'
import type { ScalePlan } from './scale/plan.ts'
import type { ScaleDatabase } from './scale-database.ts'

/** What every row is measured with. */
export interface Bench {
  readonly load: LoadGenerator
  readonly options: BenchOptions
  /** The data of a plan, made where they are missing, opened once for all rows. */
  data(plan?: Partial<ScalePlan>): Promise<ScaleDatabase>
  /** A database of a plan that nothing was ever done to; it goes with `close`. */
  freshData(plan: Partial<ScalePlan>): Promise<ScaleDatabase>
  /** Stops the database of some data, so that a service can start on their folder. */
  closeData(data: ScaleDatabase): Promise<void>
  say(line: string): void
}

export interface BenchOptions {
  /** Seconds of one measurement. */
  readonly seconds: number
  /** How often each server is measured, in turns. */
  readonly rounds: number
  readonly connections: number
  readonly quotes: number
  readonly tenants: number
  readonly seed: number
  /** The larger data of the growth row. */
  readonly manyQuotes: number
  /** Rows of the import. */
  readonly importRows: number
  /** Quotes of the tenant whose widest scope is asked for. */
  readonly giantTenant: number
  /** The brokerages of the at-work row, each by its quotes, and how long people work on each. */
  readonly atWork: { readonly brokerages: readonly number[]; readonly seconds: number }
}

/** A table of a row: what was measured on the left, one figure in each column. */
export interface BenchTable {
  readonly columns: readonly string[]
  readonly lines: readonly (readonly [string, ...(Spread | string)[]])[]
}

/** A figure measured several times. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

export interface BenchFindings {
  readonly table: BenchTable
  readonly bars: readonly Bar[]
  /** What makes the figures not worth believing, such as answers that were refused. */
  readonly faults: readonly string[]
  /** What a reader must know to read the figures. */
  readonly notes: readonly string[]
}

/** One row of the benchmark. */
export interface BenchRow {
  readonly name: string
  readonly about: string
  measure(bench: Bench): Promise<BenchFindings>
}

/** Median, least and most. @example spreadOf([3, 1, 2]) // { median: 2, least: 1, most: 3 } */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const median =
    ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
  return { median, least: sorted[0] ?? Number.NaN, most: sorted.at(-1) ?? Number.NaN }
}

/** The ratio of two servers, round by round: what slows one round down slows both. */
export function ratios(upper: readonly number[], lower: readonly number[]): number[] {
  return upper.map((value, at) => value / (lower[at] ?? Number.NaN))
}
