import { pagePaths } from '#contract/pages.ts'
import type { Role } from '#contract/roles.ts'
import type { Answer } from '../api/index.ts'

type StepName = keyof Answer<'first-steps'>

export interface FirstStep {
  readonly name: StepName
  readonly title: string
  readonly why: string
  /** What leads to it, and where. */
  readonly action: string
  readonly to: (typeof pagePaths)['desk' | 'quotes' | 'imports' | 'team' | 'integration']
  readonly search?: Readonly<Record<string, string>>
  readonly needs: Role
}

/** From sign-up to the first quote and the first call of the API, in the order that helps most. */
export const firstSteps: readonly { readonly heading: string; readonly steps: readonly FirstStep[] }[] = [
  {
    heading: 'Quote',
    steps: [
      {
        name: 'quotes',
        title: 'Quote a lane',
        why: 'Customer, lane and rate: the advice appears while you type.',
        action: 'Open the quote desk',
        to: pagePaths.desk,
        needs: 'member',
      },
      {
        name: 'outcomes',
        title: 'Mark a quote won or lost',
        why: 'Every probability comes from what you won and lost. Pending quotes teach nothing.',
        action: 'Open the quotes',
        to: pagePaths.quotes,
        needs: 'member',
      },
      {
        name: 'imports',
        title: 'Import past quotes',
        why: 'A CSV of the last year or two gives useful advice from the first day.',
        action: 'Import a CSV',
        to: pagePaths.imports,
        needs: 'member',
      },
      {
        name: 'team',
        title: 'Invite your team',
        why: 'Everybody quotes on the same history, and changes carry a name.',
        action: 'Invite people',
        to: pagePaths.team,
        needs: 'admin',
      },
    ],
  },
  {
    heading: 'Connect',
    steps: [
      {
        name: 'token',
        title: 'Create a service token',
        why: 'It says who calls. It is enough to read advice from another system.',
        action: 'Create a token',
        to: pagePaths.integration,
        needs: 'admin',
      },
      {
        name: 'secret',
        title: 'Create a signing secret',
        why: 'It signs the bookings that your TMS pushes, and is never sent itself.',
        action: 'Create a secret',
        to: pagePaths.integration,
        needs: 'admin',
      },
      {
        name: 'first_read',
        title: 'Make the first read',
        why: 'Paste this into a terminal: it asks how likely a rate is to win.',
        action: 'See it in Python and TypeScript',
        to: pagePaths.integration,
        search: { tab: 'code', call: 'markup' },
        needs: 'admin',
      },
      {
        name: 'booking',
        title: 'Push the first booking',
        why: 'From then on the margin that landed replaces what was quoted, in every number.',
        action: 'Show the code',
        to: pagePaths.integration,
        search: { tab: 'code', call: 'shipment-update' },
        needs: 'admin',
      },
    ],
  },
]
