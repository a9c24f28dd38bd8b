import { pagePaths } from '#contract/pages.ts'
import type { Step } from '../steps/index.ts'

/** The steps of the people who quote, in the recommended order. */
export const firstSteps: readonly Step[] = [
  {
    name: 'imports',
    title: 'Import past quotes',
    why: 'A CSV or Excel file of the last one or two years gives you useful advice from the first day.',
    link: { words: 'Import a file', to: pagePaths.imports },
    needs: 'member',
  },
  {
    name: 'quotes',
    title: 'Quote a lane',
    why: 'Enter customer, lane and rate. Advice appears while you type.',
    link: { words: 'Open the quote desk', to: pagePaths.desk },
    needs: 'member',
  },
  {
    name: 'outcomes',
    title: 'Mark a quote won or lost',
    why: 'All chances are based on your won and lost quotes. Pending quotes only say which rates are usual.',
    link: { words: 'Open quotes', to: pagePaths.quotes },
    needs: 'member',
  },
  {
    name: 'team',
    title: 'Invite your team',
    why: 'Everyone uses the same history, and every change shows who made it.',
    link: { words: 'Invite people', to: pagePaths.team },
    needs: 'admin',
  },
]
