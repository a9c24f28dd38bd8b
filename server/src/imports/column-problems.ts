import { editDistance } from '#geography/edit-distance.ts'
import { fieldOfHeader, type ImportFieldName, importFields, quoted, shortened } from '../csv/index.ts'

/** A problem of a header or a map, and how to fix it. `column` is null when the problem has no single column. */
export interface ColumnProblem {
  readonly code: 'map' | 'header'
  readonly column: string | null
  readonly detail: string
}

export function twoColumns(
  field: ImportFieldName,
  candidates: readonly number[],
  headers: readonly string[],
): ColumnProblem {
  const names = candidates.map((position) => headers[position] ?? '')
  const same = new Set(names).size === 1
  return {
    code: 'header',
    column: names[1] === undefined ? null : shortened(names[1]),
    detail: same
      ? `The column ${quoted(names[0] ?? '')} appears ${names.length} times; rename all but one, or choose one with the map ${field}=#${(candidates[0] ?? 0) + 1}.`
      : `The columns ${listed(names)} could each be ${field} (${importFields[field].description}); choose one with the map ${field}=${shortened(names[0] ?? '')}.`,
  }
}

/** The field with a name or alias that differs from a folded header by at most two letters. */
export function closestField(name: string): ImportFieldName | null {
  if (name.length < 4) return null
  for (const [alias, field] of fieldOfHeader) {
    const lettersMax = alias.length >= 8 ? 2 : 1
    // The comparison is skipped if the lengths alone differ by too much.
    if (alias.length < 4 || Math.abs(alias.length - name.length) > lettersMax) continue
    if (editDistance(name, alias, lettersMax) <= lettersMax) return field
  }
  return null
}

const problemsMax = 20
/** The first problems, with a note about the others. */
export function shownProblems(problems: readonly ColumnProblem[]): readonly ColumnProblem[] {
  const last = problems[problemsMax - 1]
  if (last === undefined || problems.length === problemsMax) return problems
  const detail = `${last.detail} There are ${problems.length - problemsMax} more problems.`
  return [...problems.slice(0, problemsMax - 1), { ...last, detail }]
}

const listedMax = 40

export function listed(names: readonly string[]): string {
  const shown = names.slice(0, listedMax).map(quoted)
  const more = names.length > listedMax ? [`${names.length - listedMax} more`] : []
  const all = [...shown, ...more]
  return all.length < 2 ? (all[0] ?? '') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}
