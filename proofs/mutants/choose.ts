import { seeded } from '../proof.ts'
import type { Mutant } from './mutations.ts'
import { criticalSubjects, type Subject } from './rooms.ts'

export interface Candidate extends Mutant {
  readonly room: string
  readonly subject: Subject
}

/** The share of the mutants in the critical subjects, divided equally among them. */
const criticalShare = 0.5

/**
 * Chooses mutants by a seed, one per line of code. Half are in the critical subjects; each room gets a part of the others by the square
 * root of its number of mutants. A draw first chooses a kind, so that frequent kinds do not crowd out others.
 */
export function choose(candidates: readonly Candidate[], count: number, seed: number): Candidate[] {
  const random = seeded(seed)
  const chosen: Candidate[] = []
  const lines = new Set<string>()
  const draw = (from: readonly Candidate[], wanted: number) => {
    const byKind = Map.groupBy(from, ({ kind }) => kind)
    let taken = 0
    while (taken < wanted && byKind.size > 0) {
      const kinds = [...byKind.keys()].sort()
      const kind = kinds[Math.floor(random() * kinds.length)] ?? 'comparison'
      const pool = byKind.get(kind) ?? []
      const [candidate] = pool.splice(Math.floor(random() * pool.length), 1)
      if (pool.length === 0) byKind.delete(kind)
      if (candidate === undefined || lines.has(`${candidate.file}:${candidate.line}`)) continue
      lines.add(`${candidate.file}:${candidate.line}`)
      chosen.push(candidate)
      taken += 1
    }
  }
  for (const subject of criticalSubjects) {
    const quota = Math.round((count * criticalShare) / criticalSubjects.length)
    draw(
      candidates.filter((one) => one.subject === subject),
      quota,
    )
  }
  const others = Map.groupBy(
    candidates.filter((one) => one.subject === 'other'),
    ({ room }) => room,
  )
  const rooms = [...others].sort(([one], [other]) => one.localeCompare(other))
  const weight = (pool: readonly Candidate[]) => Math.sqrt(pool.length)
  const whole = rooms.reduce((sum, [, pool]) => sum + weight(pool), 0)
  const rest = count - chosen.length
  // Sums are rounded, not single shares, so that all rooms together get `rest`.
  let share = 0
  let given = 0
  for (const [, pool] of rooms) {
    share += (weight(pool) / whole) * rest
    draw(pool, Math.round(share) - given)
    given = Math.round(share)
  }
  return chosen
}
