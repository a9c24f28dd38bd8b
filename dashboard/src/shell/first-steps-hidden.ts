import { useLocalStorage } from '@mantine/hooks'
import { useSession } from '../api/index.ts'

/** Whether somebody has had enough of "Get started" in the menu of this browser, and the way to change that. */
export function useStartHidden(): readonly [isHidden: boolean, setHidden: (hidden: boolean) => void] {
  const { tenant } = useSession()
  const [kept, keep] = useLocalStorage({
    key: `lanewise-start-${tenant.id}`,
    defaultValue: 'shown',
    getInitialValueInEffect: false,
  })
  return [kept === 'hidden', (hidden) => keep(hidden ? 'hidden' : 'shown')]
}
