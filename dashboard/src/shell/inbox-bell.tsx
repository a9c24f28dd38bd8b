import { IconBell } from 'virtual:tabler-icons'
import { ActionIcon, Indicator } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'
import { useAnswer } from '../api/index.ts'

/** What is new is on the bell within five seconds. */
const everyMs = 4_000
/** More than that is "many" for a person. */
const shownMax = 99

/** The inbox of the signed-in person, asked for every few seconds on all pages. */
export const useInbox = () => useAnswer('get-inbox', {}, { everyMs, staleMs: everyMs })

/** On every page: the link to what waits for the signed-in person, with the number of what they have not seen. */
export function InboxBell() {
  const { data } = useInbox()
  const unseen = data?.unseen ?? 0
  return (
    <Indicator
      label={unseen > shownMax ? `${shownMax}+` : unseen}
      disabled={unseen === 0}
      size={18}
      color="red.9"
      offset={4}
      aria-hidden={false}
    >
      <ActionIcon
        component={Link}
        to={pagePaths.inbox}
        variant="default"
        size="lg"
        aria-label={unseen === 0 ? 'Inbox: nothing new' : `Inbox: ${unseen} new`}
      >
        <IconBell size={18} aria-hidden />
      </ActionIcon>
    </Indicator>
  )
}
