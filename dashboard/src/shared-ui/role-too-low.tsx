import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { useSession } from '../api/index.ts'
import { TextLink } from './links.tsx'
import { Nothing } from './states.tsx'

/** The content of an admin page for users with a lower role. `children` says what the page is for. */
export function RoleTooLow({ children }: { children: ReactNode }) {
  const { user } = useSession()
  return (
    <Nothing title="Your role does not allow this">
      {children} Your role is {user.role}. An owner or admin of your brokerage can change your role on the{' '}
      <TextLink to={pagePaths.team}>page People and teams</TextLink>.
    </Nothing>
  )
}
