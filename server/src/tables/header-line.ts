import { importColumnsMax } from '#contract/limits.ts'
import type { Steps } from '#engine/steps.ts'

/** A line of the beginning of a table. */
export interface SearchedLine {
  readonly line: number
  readonly cells: readonly string[]
  readonly malformed: boolean
  /** The number of cells that are not blank. */
  readonly width: number
  /** The number of cells with a number, an amount or a date. */
  readonly values: number
}

/** Lines that are searched for the header, blank ones not counted: exports begin with a title and the request. */
const headerLinesMax = 30
/** Two cells with known names make a line the header. */
const namesMin = 2
/** The lines whose values show that a word is a value and no name. */
const comparedLinesMax = 60

/**
 * Finds the header among the first lines that are not blank. Two lines compete: the one with the most known names, and the first one
 * that is as wide as the table. The second wins a near tie, because words such as Truck, Won and Account are both names and values.
 * A line with numbers or dates is no header, unless it has more known names than those. A word that a row with numbers has in the same
 * column is a value. Cells beyond the most columns of a file have no names. A step compares the cells of one line.
 *
 * @returns the index of the header with its known names; null if no line can be the header
 */
export function* headerAmong(
  lines: readonly SearchedLine[],
  knownNames: (cells: readonly string[]) => number,
): Steps<{ readonly at: number; readonly names: number } | null> {
  const searched = lines.slice(0, headerLinesMax)
  const table = Math.max(0, ...searched.map(({ width }) => width))
  const words = yield* wordsOfRows(lines)
  const scored: Scored[] = []
  for (const [at, { cells, values, width }] of searched.entries()) {
    const possibleNames = cells
      .slice(0, importColumnsMax)
      .filter((cell, column) => (words[column]?.get(cell) ?? 0) < (values > 0 ? 2 : 1))
    const names = knownNames([...new Set(possibleNames)])
    const mayBe = width > 0 && (values === 0 || names > values)
    scored.push({ at, width, names, mayBe, score: names - 2 * values })
    yield
  }
  const possible = scored.filter(({ mayBe }) => mayBe)
  const named = possible
    .filter(({ names }) => names >= namesMin)
    .reduce<(typeof possible)[number] | null>(
      (best, one) => (best === null || one.score > best.score ? one : best),
      null,
    )
  const wide =
    possible.find(({ width }) => width >= 0.8 * table) ??
    possible.find(({ width }) => width >= 2 && width >= 0.5 * table)
  const found = named === null || wide === undefined ? (named ?? wide) : winner(named, wide, scored, table)
  if (found === undefined) return null
  return { at: found.at, names: found.names >= namesMin ? found.names : 0 }
}

interface Scored {
  readonly at: number
  readonly width: number
  readonly names: number
  readonly mayBe: boolean
  readonly score: number
}

function winner(named: Scored, wide: Scored, scored: readonly Scored[], table: number): Scored {
  const isAfterRows = scored
    .slice(wide.at, named.at)
    .some(({ mayBe, width }) => !mayBe && width >= 0.5 * table)
  return named.score - wide.score >= (isAfterRows ? 3 : 2) ? named : wide
}

/** How many rows with numbers or dates have a word in a column. */
function* wordsOfRows(lines: readonly SearchedLine[]): Steps<readonly ReadonlyMap<string, number>[]> {
  const words: Map<string, number>[] = []
  for (const { cells, values } of lines.slice(0, comparedLinesMax)) {
    if (values === 0) continue
    for (const [column, cell] of cells.slice(0, importColumnsMax).entries()) {
      words[column] ??= new Map()
      words[column].set(cell, (words[column].get(cell) ?? 0) + 1)
    }
    yield
  }
  return words
}
