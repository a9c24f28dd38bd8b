import { useLocalStorage } from '@mantine/hooks'
import { useSession } from '../api/index.ts'

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
