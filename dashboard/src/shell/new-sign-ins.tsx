import { Box, Button, Group } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'
import { sessionQuery, useChange, useSession } from '../api/index.ts'
import { deviceOf, Failed, Heed, moment } from '../shared-ui/index.ts'

/** On every page: a sign-in of the person from a new device or network, until they say whether it was theirs. */
export function NewSignIns() {
  const { new_sign_ins: signIns } = useSession()
  const confirm = useChange('confirm-session')
  const queries = useQueryClient()
  const [first] = signIns
  if (first === undefined) return null
  const what = first.new_device ? (first.new_network ? 'device and network' : 'device') : 'network'
  return (
    <Box component="section" aria-label="Sign-in from somewhere new" mb="md">
      <Heed title={`Was this you? A sign-in from a new ${what}`}>
        <span style={{ overflowWrap: 'anywhere' }}>
          {deviceOf(first)}, {moment(first.created_at)}.
        </span>{' '}
        If it was not you, <Link to={pagePaths.account}>end that session and change your password</Link>.
      </Heed>
      {confirm.error !== null && <Failed error={confirm.error} title="Not confirmed" />}
      <Group mt="xs">
        <Button
          size="compact-sm"
          variant="default"
          loading={confirm.isPending}
          onClick={() =>
            confirm.mutate(
              { params: { id: first.id }, body: {} },
              { onSuccess: () => void queries.invalidateQueries({ queryKey: sessionQuery.queryKey }) },
            )
          }
        >
          It was me
        </Button>
      </Group>
    </Box>
  )
}
