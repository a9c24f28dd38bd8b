import { Box } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'
import { useSession } from '../api/index.ts'
import { day, Heed } from '../shared-ui/index.ts'

/** For admins, on every page: service tokens that expire soon. Calls with an expired token are rejected. */
export function ExpiringTokens() {
  const { expiring_tokens: tokens } = useSession()
  const [first] = tokens
  if (first === undefined) return null
  const others = tokens.length - 1
  return (
    <Box component="section" aria-label="Service tokens that expire soon" mb="md">
      <Heed
        title={others === 0 ? 'A service token expires soon' : `${tokens.length} service tokens expire soon`}
      >
        <span style={{ overflowWrap: 'anywhere' }}>
          <strong>{first.name}</strong> expires on {day(first.expires_at)}
          {others === 0 ? '' : `, and ${others} more later`}. After that, calls with this token are rejected.
        </span>{' '}
        <Link to={pagePaths.integration}>Create a new token</Link>, install it in your system, then revoke the
        old one.
      </Heed>
    </Box>
  )
}
