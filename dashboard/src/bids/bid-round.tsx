import { Anchor, List, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, useAnswer } from '../api/index.ts'
import {
  count,
  counted,
  Failed,
  Figures,
  Loading,
  laneName,
  roundDollars,
  Section,
} from '../shared-ui/index.ts'
import { changeInWords } from './bid-words.ts'

type Round = Answer<'get-bid-round'>

/** Differences that are listed; the API has more. */
const listedMax = 20

/** What the shipper changed and told since the round before. */
export function BidRound({ bidId }: { bidId: number }) {
  const round = useAnswer('get-bid-round', { params: { bid_id: bidId } })
  if (round.data === undefined) {
    return round.error === null ? (
      <Loading label="Loading the round before" />
    ) : (
      <Failed error={round.error} retry={() => void round.refetch()} />
    )
  }
  const { previous, counts, added, removed, changed } = round.data
  return (
    <Section
      title="Since the last round"
      hint="Lanes that are the same work keep your rate of the round before. Other lanes start with the rate to quote."
    >
      <Stack gap="sm">
        <Text size="sm">
          {counted(counts.joined, 'lane continues', 'lanes continue')} a lane of{' '}
          <Anchor
            renderRoot={(props) => (
              <Link {...props} to={pagePaths.bids} search={{ bid: String(previous.bid_id) }} />
            )}
            size="sm"
          >
            {previous.name}
          </Anchor>
          .
        </Text>
        <Feedback round={round.data} />
        <Differences
          title="Changed"
          lanes={counts.changed}
          lines={changed.map((change) => changeInWords(change))}
        />
        <Differences
          title="New"
          lanes={counts.added}
          lines={added.map(
            ({ lane, origin, destination }) => `Lane ${lane}: ${laneName(origin, destination)}`,
          )}
        />
        <Differences
          title="Gone"
          lanes={counts.removed}
          lines={removed.map(
            ({ lane, origin, destination }) =>
              `Lane ${lane} of the last round: ${laneName(origin, destination)}`,
          )}
        />
      </Stack>
    </Section>
  )
}

function Feedback({
  round: {
    feedback: { ranked, first, targeted, above_target: above, to_target: toTarget },
  },
}: {
  round: Round
}) {
  if (ranked === 0 && targeted === 0) return null
  return (
    <Figures
      label="What the shipper tells"
      loading={false}
      figures={[
        {
          label: 'Ranked first',
          value: ranked === 0 ? '–' : count(first),
          note: ranked === 0 ? 'The file has no ranks' : `Of ${counted(ranked, 'lane')} with a rank`,
        },
        {
          label: 'Above the target',
          value: targeted === 0 ? '–' : count(above),
          note: targeted === 0 ? 'The file has no targets' : `Of ${counted(targeted, 'lane')} with a target`,
        },
        {
          label: 'To meet all targets',
          value: targeted === 0 ? '–' : roundDollars(toTarget),
          note: 'Less margin over the contract',
        },
      ]}
    />
  )
}

function Differences({ title, lanes, lines }: { title: string; lanes: number; lines: readonly string[] }) {
  if (lanes === 0) return null
  return (
    <details>
      <summary>
        {title}: {counted(lanes, 'lane')}
      </summary>
      <List size="sm" mt={4}>
        {lines.slice(0, listedMax).map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
        {lines.length > listedMax && <List.Item>And {count(lines.length - listedMax)} more.</List.Item>}
      </List>
    </details>
  )
}
