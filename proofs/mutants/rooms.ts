import type { Mutant } from './mutations.ts'

/** Returns the room of a file, such as `engine` or `server/access`. Each room has a score of its own. */
export function roomOf(file: string): string {
  const [top = '', , folder = ''] = file.split('/')
  return top === 'server' ? `server/${folder.replace(/\.ts$/, '')}` : top
}

/**
 * Files without mutants: the schema, because migrations run once before the tests and released ones do not change; and the
 * sample brokerage, whose numbers are invented.
 */
export const isLeftOut = (file: string) =>
  /\.test\.ts$|\.d\.ts$|(^|\/)index\.ts$|^server\/src\/(database\/schema|sample)\//.test(file)

/** The subjects in which a fault costs most: no mutant may survive there. */
export const criticalSubjects = ['roles', 'tenants', 'money', 'outcomes'] as const
export type Subject = (typeof criticalSubjects)[number] | 'other'

const arithmeticKinds = new Set([
  'arithmetic',
  'comparison',
  'equality',
  'number',
  'unit',
  'condition',
  'SQL comparison',
])

/** Returns the subject of a mutant, from its kind, its file, and the words of its line. */
export function subjectOf({ kind, file }: Mutant, line: string): Subject {
  if (kind === 'tenant filter') return 'tenants'
  if (/database\/session\/(tenant|row-level-security)\.ts$/.test(file)) return 'tenants'
  if (kind === 'role') return 'roles'
  if (/http\/(caller-rights|admission)\.ts$|contract\/src\/(token-scopes|roles)\.ts$/.test(file))
    return 'roles'
  // Not in the engine, where a scope is an area.
  if (/^(contract|server)\//.test(file) && /\b(role|roleAtLeast|hasScope|permits|seenByViewer)\b/.test(line))
    return 'roles'
  if (kind === 'outcome') return 'outcomes'
  if (/engine\/src\/(quote-outcome|quote-update|shipment-update)\.ts$/.test(file)) return 'outcomes'
  if (/\b(outcome|outcomes|voided_at|voidedAt|isBooked|decided_at|decidedAt)\b/.test(line)) return 'outcomes'
  if (/engine\/src\/(money|rate-basis|charges|currency)\.ts$/.test(file)) return 'money'
  if (arithmeticKinds.has(kind) && /[cC]ents\b|_cents|[cC]urrency|usdPerCad/.test(line)) return 'money'
  return 'other'
}
