import { Box } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'
import { useSession } from '../api/index.ts'
import { day, Heed } from '../shared-ui/index.ts'

/** For admins, on every page: which service tokens end soon. A system whose token has ended is refused. */
export function ExpiringTokens() {
  const { expiring_tokens: tokens } = useSession()
  const [first] = tokens
  if (first === undefined) return null
  const others = tokens.length - 1
  return (
    <Box component="section" aria-label="Service tokens that end soon" mb="md">
      <Heed title={others === 0 ? 'A service token ends soon' : `${tokens.length} service tokens end soon`}>
        <span style={{ overflowWrap: 'anywhere' }}>
          <strong>{first.name}</strong> ends on {day(first.expires_at)}
          {others === 0 ? '' : `, and ${others} more after it`}. From then on whatever calls with it is
          refused.
        </span>{' '}
        <Link to={pagePaths.integration}>Make a new token</Link>, give it to the system, and revoke the old
        one.
      </Heed>
    </Box>
  )
}
