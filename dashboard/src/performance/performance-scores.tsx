import { type Column, DataTable } from '../shared-ui/index.ts'

/** What every forecaster is scored by. */
interface Score {
  readonly brier: number
  readonly calibration_error: number
}

/**
 * The scores of forecasters of the same quotes: Brier score, one more measure, and the average error.
 *
 * @param forecasters the names in `scores` with their labels, in the order of the rows
 */
export function ScoreTable<Name extends string, Scored extends Score>({
  caption,
  forecasters,
  scores,
  measure,
}: {
  caption: string
  forecasters: readonly (readonly [name: Name, label: string])[]
  scores: Readonly<Record<Name, Scored>>
  measure: { readonly header: string; readonly of: (score: Scored) => string }
}) {
  const columns: Column<readonly [name: Name, label: string]>[] = [
    { key: 'by', header: 'Forecast by', cell: ([, label]) => label, wraps: true },
    {
      key: 'brier',
      header: 'Brier score',
      align: 'right',
      cell: ([name]) => scores[name].brier.toFixed(3),
    },
    {
      key: 'measure',
      header: measure.header,
      align: 'right',
      cell: ([name]) => measure.of(scores[name]),
    },
    {
      key: 'error',
      header: 'Average error',
      align: 'right',
      cell: ([name]) => `${(scores[name].calibration_error * 100).toFixed(1)} points`,
    },
  ]
  return <DataTable caption={caption} rows={forecasters} rowKey={([name]) => name} columns={columns} />
}
