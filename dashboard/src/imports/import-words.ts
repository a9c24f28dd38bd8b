import type { Answer } from '../api/index.ts'
import { counted } from '../shared-ui/index.ts'

export type ImportAnswer = Answer<'get-import'>

/** A field as people read it. @example fieldLabel('origin_city') // 'Origin city' */
export function fieldLabel(field: string): string {
  const words = field.replaceAll('_', ' ').replace(/\bmc\b/, 'MC')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A column as people find it in their file: by name, and by number where the name does not tell. */
export function columnLabel(header: readonly string[], position: number): string {
  const name = header[position - 1] ?? ''
  if (name === '') return `Column ${position} (no name)`
  return header.filter((other) => other === name).length > 1 ? `${name} (column ${position})` : name
}

const words = {
  running: 'running',
  done: 'done',
  stopped: 'stopped',
  failed: 'failed',
  undoing: 'being undone',
  undone: 'undone',
} as const satisfies Record<ImportAnswer['status'], string>

export function statusWord({ status, dry_run }: Pick<ImportAnswer, 'status' | 'dry_run'>): string {
  if (!dry_run) return words[status]
  return status === 'done' ? 'checked only' : `check ${words[status]}`
}

/** Whether the service works on an import: it reads the file, or undoes it. */
export function isBusy({ status }: Pick<ImportAnswer, 'status'>): boolean {
  return status === 'running' || status === 'undoing'
}

/** What an import did, or would do, in one sentence. */
export function summary(run: ImportAnswer): string {
  const [would, will] = run.dry_run ? ['would be ', 'will change'] : ['', 'changed']
  const parts = [
    `${counted(run.rows_added, 'quote')} ${would}added`,
    ...(run.rows_updated > 0 ? [`${counted(run.rows_updated, 'quote')} ${will}`] : []),
    ...(run.rows_repeated > 0 ? [`${counted(run.rows_repeated, 'row')} with nothing new`] : []),
    ...(run.rows_kept > 0 ? [`${counted(run.rows_kept, 'row')} left out for newer values`] : []),
    ...(run.rows_refused > 0 ? [`${counted(run.rows_refused, 'row')} refused`] : []),
  ]
  return `${parts.join(', ')}.`
}

/** What an undo did so far, in one sentence. */
export function undoSummary(undo: NonNullable<ImportAnswer['undo']>): string {
  const parts = [
    `${counted(undo.lanes_removed, 'quote')} removed`,
    ...(undo.lanes_restored > 0
      ? [`${counted(undo.lanes_restored, 'quote')} restored to the values from before`]
      : []),
    ...(undo.lanes_kept > 0
      ? [`${counted(undo.lanes_kept, 'quote')} kept: changed, booked or quoted again since`]
      : []),
  ]
  return `${parts.join(', ')}.`
}

/** Whether there may be something of an import to take back. */
export function canBeUndone(run: ImportAnswer): boolean {
  return !run.dry_run && !isBusy(run) && run.status !== 'undone' && run.rows_added + run.rows_updated > 0
}
