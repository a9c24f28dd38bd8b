import { pagePaths } from '#contract/pages.ts'
import type { Role } from '#contract/roles.ts'
import type { Answer } from '../api/index.ts'

type StepName = keyof Answer<'first-steps'>

export interface FirstStep {
  readonly name: StepName
  readonly title: string
  readonly why: string
  readonly action: string
  readonly to: (typeof pagePaths)['desk' | 'quotes' | 'imports' | 'team' | 'integration']
  readonly search?: Readonly<Record<string, string>>
  readonly needs: Role
}

/** The steps of the people who quote, in the recommended order. */
export const firstSteps: readonly FirstStep[] = [
  {
    name: 'imports',
    title: 'Import past quotes',
    why: 'A CSV or Excel file of the last one or two years gives you useful advice from the first day.',
    action: 'Import a file',
    to: pagePaths.imports,
    needs: 'member',
  },
  {
    name: 'quotes',
    title: 'Quote a lane',
    why: 'Enter customer, lane and rate. Advice appears while you type.',
    action: 'Open the quote desk',
    to: pagePaths.desk,
    needs: 'member',
  },
  {
    name: 'outcomes',
    title: 'Mark a quote won or lost',
    why: 'All chances are based on your won and lost quotes. Pending quotes only say which rates are usual.',
    action: 'Open quotes',
    to: pagePaths.quotes,
    needs: 'member',
  },
  {
    name: 'team',
    title: 'Invite your team',
    why: 'Everyone uses the same history, and every change shows who made it.',
    action: 'Invite people',
    to: pagePaths.team,
    needs: 'admin',
  },
]

/** The steps that connect another system, in the recommended order. */
export const connectSteps: readonly FirstStep[] = [
  {
    name: 'token',
    title: 'Create a service token',
    why: 'A token identifies the calling system and is sufficient for reading advice.',
    action: 'Create a token',
    to: pagePaths.integration,
    needs: 'admin',
  },
  {
    name: 'secret',
    title: 'Create a signing secret',
    why: 'Your TMS signs bookings with the secret, which is never sent.',
    action: 'Create a secret',
    to: pagePaths.integration,
    needs: 'admin',
  },
  {
    name: 'first_read',
    title: 'Make your first API call',
    why: 'Paste this command into a terminal to get the advice on a rate.',
    action: 'View in Python and TypeScript',
    to: pagePaths.integration,
    search: { tab: 'code', call: 'markup' },
    needs: 'admin',
  },
  {
    name: 'booking',
    title: 'Send your first booking',
    why: 'All numbers then use the booked margin instead of the quoted margin.',
    action: 'Show code',
    to: pagePaths.integration,
    search: { tab: 'code', call: 'shipment-update' },
    needs: 'admin',
  },
]
