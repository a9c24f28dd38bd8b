import { Box } from '@mantine/core'
import { useSession } from '../api/index.ts'
import { Heed } from '../shared-ui/index.ts'

/** On every page of a test brokerage: nothing here is real. */
export function TestBrokerage() {
  const { tenant } = useSession()
  if (!tenant.test) return null
  return (
    <Box component="section" aria-label="Test brokerage" mb="md">
      <Heed title="This is the test brokerage">
        Nothing here is real, and its tokens reach no real data. To return, sign out and sign in again.
      </Heed>
    </Box>
  )
}
