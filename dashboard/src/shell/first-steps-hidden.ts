import { useLocalStorage } from '@mantine/hooks'
import { type Answer, useSession } from '../api/index.ts'

/** Whether "Get started" is hidden from the menu in this browser, and a function to change that. */
export function useStartHidden(): readonly [isHidden: boolean, setHidden: (hidden: boolean) => void] {
  const { tenant } = useSession()
  const [kept, keep] = useLocalStorage({
    key: `lanewise-start-${tenant.id}`,
    defaultValue: 'shown',
    getInitialValueInEffect: false,
  })
  return [kept === 'hidden', (hidden) => keep(hidden ? 'hidden' : 'shown')]
}

/** How many steps of the page “Get started” are left. Connecting another system is on the page for developers. */
export const stepsLeft = ({ imports, quotes, outcomes, team }: Answer<'first-steps'>): number =>
  [imports, quotes, outcomes, team].filter((done) => !done).length
