import { pagePaths } from '#contract/pages.ts'
import type { Step } from '../steps/index.ts'

/** The steps that connect another system, in the recommended order. */
export const connectSteps: readonly Step[] = [
  {
    name: 'token',
    title: 'Create a service token',
    why: 'A token identifies the calling system and is sufficient for reading advice.',
    link: { words: 'Create a token', to: pagePaths.integration },
    needs: 'admin',
  },
  {
    name: 'secret',
    title: 'Create a signing secret',
    why: 'Your TMS signs bookings with the secret, which is never sent.',
    link: { words: 'Create a secret', to: pagePaths.integration },
    needs: 'admin',
  },
  {
    name: 'first_read',
    title: 'Make your first API call',
    why: 'Paste this command into a terminal to get the advice on a rate.',
    link: {
      words: 'View in Python and TypeScript',
      to: pagePaths.integration,
      search: { tab: 'code', call: 'markup' },
    },
    needs: 'admin',
  },
  {
    name: 'booking',
    title: 'Send your first booking',
    why: 'All numbers then use the booked margin instead of the quoted margin.',
    link: { words: 'Show code', to: pagePaths.integration, search: { tab: 'code', call: 'shipment-update' } },
    needs: 'admin',
  },
]
