import type { Answer } from '../api/index.ts'
import { counted } from '../shared-ui/index.ts'

export type ImportAnswer = Answer<'get-import'>

/** The label of a field. @example fieldLabel('origin_city') // 'Origin city' */
export function fieldLabel(field: string): string {
  const words = field.replaceAll('_', ' ').replace(/\bmc\b/, 'MC')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The label of a column: its name, plus its number if the name is missing or not unique. */
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

/** True while an import runs or is being undone. */
export function isBusy({ status }: Pick<ImportAnswer, 'status'>): boolean {
  return status === 'running' || status === 'undoing'
}

/** The result of an import or check, in one sentence. */
export function summary(run: ImportAnswer): string {
  const [would, will] = run.dry_run ? ['would be ', 'will change'] : ['', 'changed']
  const parts = [
    `${counted(run.rows_added, 'quote')} ${would}added`,
    ...(run.rows_updated > 0 ? [`${counted(run.rows_updated, 'quote')} ${will}`] : []),
    ...(run.rows_repeated > 0 ? [`${counted(run.rows_repeated, 'row')} unchanged`] : []),
    ...(run.rows_kept > 0 ? [`${counted(run.rows_kept, 'row')} skipped`] : []),
    ...(run.rows_refused > 0 ? [`${counted(run.rows_refused, 'row')} rejected`] : []),
  ]
  return `${parts.join(', ')}.`
}

/** The progress or result of an undo, in one sentence. */
export function undoSummary(undo: NonNullable<ImportAnswer['undo']>): string {
  const parts = [
    `${counted(undo.lanes_removed, 'quote')} removed`,
    ...(undo.lanes_restored > 0
      ? [`${counted(undo.lanes_restored, 'quote')} restored to the previous values`]
      : []),
    ...(undo.lanes_kept > 0 ? [`${counted(undo.lanes_kept, 'quote')} kept because of later changes`] : []),
  ]
  return `${parts.join(', ')}.`
}

/** True when an import may have changes to undo. */
export function canBeUndone(run: ImportAnswer): boolean {
  return !run.dry_run && !isBusy(run) && run.status !== 'undone' && run.rows_added + run.rows_updated > 0
}
