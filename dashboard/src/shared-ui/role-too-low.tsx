import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { useSession } from '../api/index.ts'
import { TextLink } from './links.tsx'
import { Nothing } from './states.tsx'

/** What stands on a page for admins where somebody else opens it. The sentence says what the page is for. */
export function RoleTooLow({ children }: { children: ReactNode }) {
  const { user } = useSession()
  return (
    <Nothing title="Your role does not allow this">
      {children} Your role is {user.role}. An owner or admin of your brokerage can change it on the{' '}
      <TextLink to={pagePaths.team}>Team page</TextLink>.
    </Nothing>
  )
}
