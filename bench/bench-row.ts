import type { Bar } from '../evaluation/src/bar.ts'
import type { LoadGenerator } from './processes.ts'
import type { ScalePlan } from './scale/plan.ts'
import type { ScaleDatabase } from './scale-database.ts'

/** What a row needs for its measurements. */
export interface Bench {
  readonly load: LoadGenerator
  readonly options: BenchOptions
  /** Opens the data of a plan, and generates them if missing. They stay open for all rows. */
  data(plan?: Partial<ScalePlan>): Promise<ScaleDatabase>
  /** Generates a new database for a plan. `close` removes it. */
  freshData(plan: Partial<ScalePlan>): Promise<ScaleDatabase>
  /** Stops the database of the data, so that a service can start on their folder. */
  closeData(data: ScaleDatabase): Promise<void>
  /** Reports progress. */
  say(line: string): void
}

export interface BenchOptions {
  /** The length of one measurement, in seconds. */
  readonly seconds: number
  /** The number of measurements per server, alternating between servers. */
  readonly rounds: number
  readonly connections: number
  readonly quotes: number
  readonly tenants: number
  readonly seed: number
  /** The number of rows of the import. */
  readonly importRows: number
  /** For the at-work row: the sizes of the brokerages, in quotes, and the seconds of work in each. */
  readonly atWork: { readonly brokerages: readonly number[]; readonly seconds: number }
}

/** The table of a row: each line has a name and one figure per column. */
export interface BenchTable {
  readonly columns: readonly string[]
  readonly lines: readonly (readonly [string, ...(Spread | string)[]])[]
}

/** The spread of a figure that was measured several times. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

export interface BenchFindings {
  readonly table: BenchTable
  readonly bars: readonly Bar[]
  /** Problems that make the figures unreliable, such as refused requests. */
  readonly faults: readonly string[]
  /** Remarks needed to interpret the figures. */
  readonly notes: readonly string[]
}

/** One row of the benchmark. */
export interface BenchRow {
  readonly name: string
  readonly promise: string
  measure(bench: Bench): Promise<BenchFindings>
}

/** Returns median, minimum and maximum. @example spreadOf([3, 1, 2]) // { median: 2, least: 1, most: 3 } */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const median =
    ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
  return { median, least: sorted[0] ?? Number.NaN, most: sorted.at(-1) ?? Number.NaN }
}

/** Returns the ratio of two servers per round. A slow round slows both servers, so it changes their ratio less. */
export function ratios(upper: readonly number[], lower: readonly number[]): number[] {
  return upper.map((value, at) => value / (lower[at] ?? Number.NaN))
}
