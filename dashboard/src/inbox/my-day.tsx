import { Button, Group, NativeSelect, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, useAnswer, useChange, useMay } from '../api/index.ts'
import {
  type Column,
  DataTable,
  dollars,
  exactMoment,
  Failed,
  Loading,
  laneName,
  Nothing,
  Page,
  RoleTooLow,
  since,
  TextLink,
} from '../shared-ui/index.ts'
import { FollowUpDraft } from './follow-up-draft.tsx'
import { leftWords } from './left-words.ts'

type Quote = Answer<'get-my-day'>['quotes'][number]

const everyMs = 30_000
const hourMs = 3_600_000

/** The pending quotes that the signed-in person follows up, the most urgent first. */
export function MyDayPage() {
  const may = useMay('member')
  return (
    <Page
      title="My day"
      hint="Your pending quotes. Due follow-ups come first; then by the dollars at stake per hour that is left."
    >
      {may ? <Day /> : <RoleTooLow>Members follow up their quotes here.</RoleTooLow>}
    </Page>
  )
}

function Day() {
  const { data, error, refetch } = useAnswer('get-my-day', {}, { everyMs })
  if (data === undefined) {
    return error === null ? (
      <Loading label="Loading your quotes" rows={6} />
    ) : (
      <Failed error={error} title="Your quotes could not be loaded" retry={() => void refetch()} />
    )
  }
  if (data.quotes.length === 0)
    return <Nothing title="No pending quotes">Quotes that you make appear here.</Nothing>
  return (
    <DataTable
      caption="Your pending quotes, the most urgent first"
      columns={columns}
      rows={data.quotes}
      rowKey={({ lane_ref }) => lane_ref}
    />
  )
}

/** The buttons of a due follow-up. */
function FollowUp({ quote }: { quote: Quote }) {
  const mark = useChange('mark-inbox')
  const queries = useQueryClient()
  const onSuccess = () => void queries.invalidateQueries()
  if (quote.follow_up === null) return null
  const { item, detail } = quote.follow_up
  const name = `${quote.customer_name}, ${laneName(quote.origin, quote.destination)}`
  return (
    <>
      <Text size="sm">{detail}</Text>
      <Group gap="xs">
        <FollowUpDraft laneRef={quote.lane_ref} name={name} />
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Done: ${name}`}
          loading={mark.isPending}
          onClick={() => mark.mutate({ body: { items: [item], mark: 'done' } }, { onSuccess })}
        >
          Done
        </Button>
        <Button
          size="compact-sm"
          variant="subtle"
          aria-label={`In an hour: ${name}`}
          onClick={() =>
            mark.mutate(
              {
                body: {
                  items: [item],
                  mark: 'snoozed',
                  until: new Date(Date.now() + hourMs).toISOString(),
                },
              },
              { onSuccess },
            )
          }
        >
          In an hour
        </Button>
      </Group>
      {mark.error !== null && <Failed error={mark.error} title="Not changed" />}
    </>
  )
}

/** For admins, beside a quote of a person who left: who follows up that person's quotes from now on. */
function GiveTo({ by }: { by: NonNullable<Quote['quoted_by']> }) {
  const isAdmin = useMay('admin')
  const { data } = useAnswer('list-users', {}, { enabled: isAdmin, staleMs: everyMs })
  const give = useChange('give-quotes')
  const queries = useQueryClient()
  const others = data?.users.filter(({ status, role }) => status === 'active' && role !== 'viewer') ?? []
  if (!isAdmin) return null
  return (
    <>
      <NativeSelect
        size="xs"
        aria-label={`Give the quotes of ${by.name} to`}
        value=""
        data={[
          { value: '', label: 'Give all to …' },
          ...others.map(({ id, name }) => ({ value: String(id), label: name })),
        ]}
        onChange={(event) => {
          const userId = Number(event.currentTarget.value)
          if (userId > 0) {
            give.mutate(
              { params: { id: by.user_id }, body: { user_id: userId } },
              { onSuccess: () => void queries.invalidateQueries() },
            )
          }
        }}
      />
      {give.error !== null && <Failed error={give.error} title="Not given" />}
    </>
  )
}

const columns: Column<Quote>[] = [
  {
    key: 'quote',
    header: 'Quote',
    wraps: true,
    cell: (quote) => (
      <>
        <TextLink
          to={`${pagePaths.quotes}/${encodeURIComponent(quote.lane_ref)}`}
          label={`Quote ${quote.lane_ref}, ${laneName(quote.origin, quote.destination)}`}
        >
          {laneName(quote.origin, quote.destination)}
        </TextLink>
        <Text size="xs" c="dimmed">
          {quote.customer_name}
        </Text>
      </>
    ),
  },
  {
    key: 'rate',
    header: 'Rate',
    cell: ({ rate, currency }) => `${dollars(rate)}${currency === 'USD' ? '' : ` ${currency}`}`,
  },
  {
    key: 'stake',
    header: 'At stake',
    cell: ({ at_stake: stake }) => (stake === null ? '–' : dollars(stake)),
  },
  {
    key: 'left',
    header: 'Time left',
    cell: ({ ends_at: end }) =>
      end === null ? 'no end' : <span title={exactMoment(end)}>{leftWords(end)}</span>,
  },
  {
    key: 'by',
    header: 'Quoted',
    cell: (quote) => (
      <>
        <span title={exactMoment(quote.quoted_at)}>{since(quote.quoted_at)}</span>
        {quote.quoted_by !== null && (
          <Text size="xs" c="dimmed">
            {quote.quoted_by.name}
            {quote.has_left && ', has left'}
          </Text>
        )}
        {quote.has_left && quote.quoted_by !== null && <GiveTo by={quote.quoted_by} />}
      </>
    ),
  },
  { key: 'follow', header: 'Follow-up', wraps: true, cell: (quote) => <FollowUp quote={quote} /> },
]
