import type { Answer } from '../call.ts'
import { counted } from './formats.ts'

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
  undone: 'undone',
} as const satisfies Record<ImportAnswer['status'], string>

export function statusWord({ status, dry_run }: Pick<ImportAnswer, 'status' | 'dry_run'>): string {
  if (!dry_run) return words[status]
  return status === 'done' ? 'checked only' : `check ${words[status]}`
}

/** What an import did, or would do, in one sentence. */
export function summary(run: ImportAnswer): string {
  const would = run.dry_run ? 'would be ' : ''
  const parts = [
    `${counted(run.rows_added, 'quote')} ${would}added`,
    ...(run.rows_updated > 0 ? [`${counted(run.rows_updated, 'booking')} ${would}taken over`] : []),
    ...(run.rows_repeated > 0 ? [`${counted(run.rows_repeated, 'row')} here already`] : []),
    ...(run.rows_refused > 0 ? [`${counted(run.rows_refused, 'row')} refused`] : []),
  ]
  return `${parts.join(', ')}.`
}

/** Whether there may be something of an import to take back. */
export function canBeUndone(run: ImportAnswer): boolean {
  return (
    !run.dry_run &&
    run.status !== 'running' &&
    run.status !== 'undone' &&
    run.rows_added + run.rows_updated > 0
  )
}
