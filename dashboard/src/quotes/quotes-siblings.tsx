import { Anchor, Group, Text } from '@mantine/core'
import type { Quote } from '#contract/quote.ts'
import { useAnswer, useSession } from '../api/index.ts'
import {
  asLinkToQuote,
  CopyButton,
  counted,
  DataTable,
  dollarsIn,
  emailText,
  Failed,
  Loading,
  laneName,
  moment,
  newestQuotes,
  OutcomeMark,
  shownOutcome,
} from '../shared-ui/index.ts'

/**
 * The number of the load in its request, and the number of the offer for that load.
 *
 * @example placeOf('48211093754-2-1') // { number: '2', count: '1' }
 */
function placeOf(laneRef: string): { number: string; count: string } {
  const [, number = '', count = ''] = laneRef.split('-')
  return { number, count }
}

/** The other quotes of the same request. */
export function QuoteSiblings({ quote: saved }: { quote: Quote }) {
  const answer = useAnswer('get-quote-request', { params: { request_id: saved.request_id } })
  const session = useSession()
  const { data, error } = answer
  if (data === undefined) {
    return error === null ? (
      <Loading label="Loading the request" rows={2} height={36} />
    ) : (
      <Failed error={error} title="The request could not be loaded" retry={() => void answer.refetch()} />
    )
  }
  const summary = `Request ${data.request_id} of ${data.customer_name}, ${moment(data.created_at)}`
  if (data.lanes.length === 1) {
    return (
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {summary}: one quote.
      </Text>
    )
  }
  const offered = newestQuotes(
    data.lanes.filter(({ voided_at, superseded_by }) => voided_at === null && superseded_by === null),
  )
  return (
    <>
      <Group gap="sm">
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {summary}: {counted(data.lanes.length, 'quote')}.
        </Text>
        {offered.length > 1 && (
          <CopyButton text={emailText({ ...data, lanes: offered }, session)} what="the request as e-mail" />
        )}
      </Group>
      <DataTable
        caption="Quotes of the request"
        rows={data.lanes}
        rowKey={({ lane_ref }) => lane_ref}
        chosen={saved.lane_ref}
        columns={[
          {
            key: 'ref',
            header: 'Quote number',
            cell: ({ lane_ref }) =>
              lane_ref === saved.lane_ref ? (
                <>{lane_ref} (this quote)</>
              ) : (
                <Anchor renderRoot={asLinkToQuote(lane_ref)} size="sm">
                  {lane_ref}
                </Anchor>
              ),
          },
          {
            key: 'which',
            header: 'Position',
            from: 'sm',
            cell: ({ lane_ref }) => `Load ${placeOf(lane_ref).number}, offer ${placeOf(lane_ref).count}`,
          },
          {
            key: 'lane',
            header: 'Lane',
            from: 'sm',
            cell: ({ origin, destination, equipment }) => `${laneName(origin, destination)} · ${equipment}`,
          },
          {
            key: 'rate',
            header: 'Quoted',
            align: 'right',
            cell: ({ quoted_rate, quoted_currency }) => dollarsIn(quoted_rate, quoted_currency),
          },
          {
            key: 'outcome',
            header: 'Outcome',
            cell: (quote) => <OutcomeMark outcome={shownOutcome(quote)} />,
          },
          { key: 'at', header: 'Quoted at', from: 'md', cell: ({ created_at }) => moment(created_at) },
        ]}
      />
    </>
  )
}
