import type { pagePaths } from '#contract/pages.ts'
import type { Role } from '#contract/roles.ts'
import type { Answer } from '../api/index.ts'

/** A step towards quotes with good advice, or towards a connected system. `name`: what the service reports as done. */
export interface Step {
  readonly name: keyof Answer<'first-steps'>
  readonly title: string
  readonly why: string
  /** The page where it is done. */
  readonly link: {
    readonly words: string
    readonly to: (typeof pagePaths)['desk' | 'quotes' | 'imports' | 'team' | 'integration']
    readonly search?: Readonly<Record<string, string>>
  }
  readonly needs: Role
}
