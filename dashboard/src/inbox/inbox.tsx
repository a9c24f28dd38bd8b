import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, useAnswer, useChange } from '../api/index.ts'
import { exactMoment, Failed, Loading, Nothing, Page, since, TextLink } from '../shared-ui/index.ts'
import { leftWords } from './left-words.ts'

type Inbox = Answer<'get-inbox'>
type Item = Inbox['items'][number]

const everyMs = 4_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** What waits for the signed-in person. What is shown here counts as seen. */
export function InboxPage() {
  const { data, error, refetch } = useAnswer('get-inbox', {}, { everyMs, staleMs: everyMs })
  useSeen(data)
  return (
    <Page title="Inbox" hint="What waits for you. It goes away when it is done, or when you put it away.">
      {data === undefined ? (
        error === null ? (
          <Loading label="Loading the inbox" rows={4} height={64} />
        ) : (
          <Failed error={error} title="The inbox could not be loaded" retry={() => void refetch()} />
        )
      ) : (
        <Items items={data.items} />
      )}
    </Page>
  )
}

/** Marks as seen what the page shows, once per item. The list keeps its order, and the bell its number until the answer. */
function useSeen(inbox: Inbox | undefined): void {
  const { mutate } = useChange('mark-inbox')
  const queries = useQueryClient()
  const told = useRef(new Set<string>())
  useEffect(() => {
    // A page that nobody looks at has shown nothing.
    if (!document.hasFocus()) return
    const fresh = inbox?.items.filter(({ item, seen }) => !seen && !told.current.has(item)) ?? []
    if (fresh.length === 0) return
    for (const { item } of fresh) told.current.add(item)
    mutate(
      { body: { items: fresh.map(({ item }) => item), mark: 'seen' } },
      { onSuccess: () => void queries.invalidateQueries({ queryKey: ['get-inbox'] }) },
    )
  }, [inbox, mutate, queries])
}

function Items({ items }: { items: readonly Item[] }) {
  if (items.length === 0) return <Nothing title="Nothing waits for you">New things appear here.</Nothing>
  return (
    <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }} aria-label="Inbox">
      {items.map((item) => (
        <li key={item.item}>
          <ItemCard item={item} />
        </li>
      ))}
    </Stack>
  )
}

/** Where an item leads; null where everything is on the card. */
function linkOf({ kind, lane_ref: lane, import_id: importId, mail_id: mail }: Item) {
  switch (kind) {
    case 'approval-to-decide':
      return { to: pagePaths.approvals, words: 'Decide' }
    case 'approval-decided':
      return { to: pagePaths.desk, words: 'Open the quote desk' }
    case 'quote-ending':
    case 'follow-up':
    case 'booked-at-a-loss':
      return { to: `${pagePaths.quotes}/${encodeURIComponent(lane ?? '')}`, words: 'Open the quote' }
    case 'import-ended':
      return { to: pagePaths.imports, query: { import: String(importId) }, words: 'Open the import' }
    case 'token-expiring':
      return { to: pagePaths.integration, words: 'Create a new token' }
    case 'mailbox-failing':
      return { to: pagePaths.mail, words: 'Open the mail settings' }
    case 'answer-not-sent':
      return { to: `${pagePaths.received}/${mail ?? ''}`, words: 'Open the mail' }
    case 'moved':
      return { to: pagePaths.account, words: 'See what you follow' }
    case 'new-sign-in':
      return { to: pagePaths.account, words: 'See where you are signed in' }
  }
}

function ItemCard({ item }: { item: Item }) {
  const { to, query, words } = { query: undefined, ...linkOf(item) }
  return (
    <Paper
      withBorder
      p="sm"
      style={item.seen ? {} : { borderInlineStart: '3px solid var(--mantine-color-anchor)' }}
    >
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={2} style={{ flex: 1, minWidth: 200, overflowWrap: 'anywhere' }}>
          <Text size="sm" fw={item.seen ? 500 : 700}>
            {item.title}
          </Text>
          {item.detail !== null && <Text size="sm">{item.detail}</Text>}
          <Text size="xs" c="dimmed">
            <span title={exactMoment(item.at)}>{since(item.at)}</span>
            {item.due_at !== null && (
              <span title={exactMoment(item.due_at)}> · {leftWords(item.due_at)}</span>
            )}
            {item.late && ' · waits for too long'}
          </Text>
        </Stack>
        <Group gap="xs">
          <TextLink to={to} {...(query === undefined ? {} : { query })} label={`${words}: ${item.title}`}>
            {words}
          </TextLink>
          <Buttons item={item} />
        </Group>
      </Group>
    </Paper>
  )
}

function Buttons({ item }: { item: Item }) {
  const mark = useChange('mark-inbox')
  const confirm = useChange('confirm-session')
  const queries = useQueryClient()
  const onSuccess = () => void queries.invalidateQueries()
  const failure = mark.error ?? confirm.error
  if (item.kind === 'approval-to-decide') return null
  if (item.session_id !== null) {
    const id = item.session_id
    return (
      <>
        <Button
          size="compact-sm"
          variant="default"
          loading={confirm.isPending}
          onClick={() => confirm.mutate({ params: { id }, body: {} }, { onSuccess })}
        >
          It was me
        </Button>
        {failure !== null && <Failed error={failure} title="Not confirmed" />}
      </>
    )
  }
  const snooze = (ms: number) =>
    mark.mutate(
      { body: { items: [item.item], mark: 'snoozed', until: new Date(Date.now() + ms).toISOString() } },
      { onSuccess },
    )
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Done: ${item.title}`}
        loading={mark.isPending}
        onClick={() => mark.mutate({ body: { items: [item.item], mark: 'done' } }, { onSuccess })}
      >
        Done
      </Button>
      <Button
        size="compact-sm"
        variant="subtle"
        aria-label={`In an hour: ${item.title}`}
        onClick={() => snooze(hourMs)}
      >
        In an hour
      </Button>
      <Button
        size="compact-sm"
        variant="subtle"
        aria-label={`Tomorrow: ${item.title}`}
        onClick={() => snooze(dayMs)}
      >
        Tomorrow
      </Button>
      {failure !== null && <Failed error={failure} title="Not changed" />}
    </>
  )
}
