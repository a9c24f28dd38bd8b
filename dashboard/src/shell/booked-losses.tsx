import { IconAlertTriangle } from 'virtual:tabler-icons'
import { Alert, Box, Text } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { useAnswer, useSession } from '../api/index.ts'
import { counted, InRed, laneName, Margin, TextLink } from '../shared-ui/index.ts'

const dayMs = 86_400_000
/** The notice shows bookings that changed in the last week, of quotes of the last 90 days: an import of old loads is no news. */
const changedWithinMs = 7 * dayMs
const quotedWithinMs = 90 * dayMs
const readMax = 20
/** Seldom, because a loss is no emergency, and every open page asks. */
const everyMs = 180_000

/**
 * At the end of every page: bookings that landed at a loss, until the person dismisses them. There it covers nothing, and it
 * moves nothing when it arrives after the page.
 */
export function BookedLosses() {
  const { tenant } = useSession()
  const [opened] = useState(() => Date.now())
  const [dismissed, setDismissed] = useLocalStorage<readonly string[]>({
    key: `lanewise-losses-${tenant.id}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  })
  // The start of a day, so that the same request is cached.
  const from = new Date(Math.floor((opened - quotedWithinMs) / dayMs) * dayMs).toISOString()
  const { data, dataUpdatedAt } = useAnswer(
    'list-quotes',
    { query: { finding: 'booked_at_a_loss', sort: 'updated', from, limit: readMax } },
    { everyMs, staleMs: everyMs },
  )
  const read = data?.lanes ?? []
  const recent = read.filter(({ updated_at }) => Date.parse(updated_at) > dataUpdatedAt - changedWithinMs)
  const news = recent.filter(({ lane_ref }) => !dismissed.includes(lane_ref))
  // A dismissed booking that is no longer read is forgotten.
  const dismiss = () => setDismissed(recent.map(({ lane_ref }) => lane_ref))
  const [newest] = news
  if (newest === undefined) return null
  const name = laneName(newest.origin, newest.destination)
  return (
    <Box component="section" aria-label="Bookings at a loss" className="booked-losses">
      <Alert
        variant="outline"
        py="xs"
        icon={<IconAlertTriangle aria-hidden />}
        withCloseButton
        closeButtonLabel="Dismiss"
        onClose={dismiss}
        styles={{ root: { borderColor: 'var(--lost)' }, icon: { color: 'var(--lost)' } }}
      >
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <InRed when>
            <b>
              {news.length === 1
                ? 'A booking landed at a loss'
                : `${recent.length < readMax ? '' : 'At least '}${counted(news.length, 'booking')} landed at a loss`}
            </b>
          </InRed>
          <span>
            {news.length === 1 ? ': ' : ', last '}
            <TextLink
              to={`${pagePaths.quotes}/${encodeURIComponent(newest.lane_ref)}`}
              label={`Quote ${newest.lane_ref}, ${name}`}
            >
              {name}
            </TextLink>{' '}
            for {newest.customer_name}: <Margin amount={newest.margin} />
          </span>
          .{' '}
          <TextLink to={pagePaths.quotes} query={{ finding: 'booked_at_a_loss', sort: 'updated' }}>
            All bookings at a loss
          </TextLink>
        </Text>
      </Alert>
    </Box>
  )
}
