import { limitOf, passes } from '../evaluation/src/bar.ts'
import type { BenchFindings, BenchRow, Spread } from './bench-row.ts'

/** Formats a figure for a table. @example figure(12345.6) // '12,346' */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '-'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 0.1 ? 2 : 3
  return value.toLocaleString('en-US', { maximumFractionDigits: digits })
}

/** Formats a spread: the median with minimum and maximum. */
function cell(value: Spread | string): string {
  if (typeof value === 'string') return value
  const { median, least, most } = value
  return least === most || Number.isNaN(median)
    ? figure(median)
    : `${figure(median)} (${figure(least)}..${figure(most)})`
}

/** Formats a row of the benchmark: its table, limits, notes and faults. */
export function rowText(row: BenchRow, { table, bars, faults, notes }: BenchFindings): string {
  const cells = [
    ['', ...table.columns],
    ...table.lines.map(([name, ...values]) => [name, ...values.map(cell)]),
  ]
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((line) => line[column]?.length ?? 0)),
  )
  const lines = cells.map((line) =>
    line
      .map((text, column) =>
        column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0),
      )
      .join('   ')
      .trimEnd(),
  )
  return [
    '',
    `${row.name}: ${row.promise}`,
    ...lines.map((line) => `  ${line}`),
    ...bars.map((bar) =>
      bar.least === undefined && bar.most === undefined
        ? `  ${bar.measure}: ${figure(bar.value)}`
        : `  ${passes(bar) ? 'met   ' : 'MISSED'} ${bar.measure}: ${figure(bar.value)}, bar ${limitOf(bar)}`,
    ),
    ...notes.map((note) => `  note: ${note}`),
    ...faults.map((fault) => `  FAULT: ${fault}`),
  ].join('\n')
}
