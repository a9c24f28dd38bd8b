import { Alert, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type Answer, type CallFailed, useAnswer, useSession } from '../api/index.ts'
import {
  BasisNote,
  dollars,
  Failed,
  Loading,
  laneName,
  MarketReferences,
  Nothing,
  Page,
  type RateType,
  requestedRateType,
  Section,
} from '../shared-ui/index.ts'
import { useLaneAddress } from './lane-address.ts'
import { LaneApi } from './lane-api.tsx'
import { BusiestLanes, LaneForm } from './lane-chooser.tsx'
import { LaneCurve } from './lane-curve.tsx'
import { LaneDots } from './lane-dots.tsx'
import { type FoundInsight, type LaneRecord, middleRate } from './lane-evidence.ts'
import { EquipmentLinks, LaneActions, LaneFigures, RateTypeLinks } from './lane-head.tsx'
import { LaneMap } from './lane-map.tsx'
import { LaneMonths } from './lane-months.tsx'
import { PlaceOffers } from './lane-place-offers.tsx'
import { LaneQuotes } from './lane-quotes.tsx'
import { More, type Opening, quotesAnchor } from './lane-section.tsx'

export default function LanePage() {
  const { origin, destination, equipment, rate_type } = useSearch({ strict: false })
  const { default_rate_type: assumed } = useSession().tenant
  if (origin === undefined || destination === undefined) {
    return (
      <Page title="Lanes" hint="The map, rates, wins and losses of a lane.">
        <LaneForm />
        <BusiestLanes />
      </Page>
    )
  }
  const asked = {
    origin,
    destination,
    ...(equipment === undefined || equipment === '' ? {} : { equipment }),
    rate_type: requestedRateType({ rate_type }).rate_type ?? assumed,
  }
  return <OneLane key={`${origin}>${destination}`} asked={asked} />
}

interface Asked {
  readonly origin: string
  readonly destination: string
  readonly equipment?: string
  readonly rate_type: RateType
}

function insightInto(asked: Asked) {
  return { ...asked, include: 'basis,evidence,market,pool' }
}

function OneLane({ asked }: { asked: Asked }) {
  const record = useAnswer('lane-record', { query: asked }, { keeps: true })
  // Starts in parallel with the record. Components below read the same cached answer.
  useAnswer('lane-advice', { query: insightInto(asked) })
  // Outside `Lane`, so that what the user opened stays open for other equipment.
  const openings = { more: useState(false), api: useState(false) }
  const title = laneName(
    record.data?.origin.place ?? asked.origin,
    record.data?.destination.place ?? asked.destination,
  )
  return (
    <Page
      title={title}
      hint="Direction matters: the reverse direction is a separate lane."
      actions={
        <LaneActions
          origin={record.data?.origin.place ?? asked.origin}
          destination={record.data?.destination.place ?? asked.destination}
        />
      }
    >
      {record.isPending ? (
        <LoadingLane />
      ) : record.isError ? (
        <NoLane error={record.error} asked={asked} retry={() => void record.refetch()} />
      ) : (
        <Lane
          key={`${asked.equipment ?? ''} ${asked.rate_type}`}
          asked={asked}
          record={record.data}
          isBusy={record.isPlaceholderData}
          openings={openings}
        />
      )}
    </Page>
  )
}

function LoadingLane() {
  return (
    <Stack gap="lg" role="status" aria-label="Loading the lane" aria-busy="true">
      <Skeleton height={26} />
      <Skeleton height={110} />
      <div className="lane-sides">
        <Skeleton height={560} />
        <Skeleton height={560} />
      </div>
    </Stack>
  )
}

/** The lane could not be loaded. For unreadable places, suggests other spellings. */
function NoLane({ error, asked, retry }: { error: CallFailed; asked: Asked; retry: () => void }) {
  const ends = (['origin', 'destination'] as const).filter((end) => error.fieldError(end) !== undefined)
  if (ends.length === 0) return <Failed error={error} retry={retry} />
  return (
    <Stack>
      <Alert color="lane" variant="outline" role="alert" title="This lane has an invalid place">
        <Stack gap={6}>
          {ends.map((end) => {
            const known = error.errors.find(({ parameter }) => parameter === end)?.suggestions
            return (
              <PlaceOffers
                key={end}
                end={end}
                typed={asked[end]}
                {...(known === undefined ? {} : { known })}
              />
            )
          })}
          <Text size="sm">Enter a place as city and state, such as Dallas, TX.</Text>
        </Stack>
      </Alert>
      <LaneForm />
    </Stack>
  )
}

const addressPauseMs = 300

/** The selected rate. `rate` follows the user at once; `settled` and the address follow after a pause. */
function useRate(startsAt: number | null): {
  rate: number | null
  settled: number | null
  move: (rateDollars: number) => void
} {
  const { address, change } = useLaneAddress()
  const written = Number(address.rate ?? Number.NaN)
  const settled = Number.isFinite(written) && written > 0 ? Math.round(written * 100) / 100 : startsAt
  const [moved, setMoved] = useState<number | null>(null)
  const write = useDebouncedCallback((rateDollars: number) => {
    change({ rate: String(rateDollars) })
    setMoved(null)
  }, addressPauseMs)
  const move = (rateDollars: number) => {
    setMoved(rateDollars)
    write(rateDollars)
  }
  return { rate: moved ?? settled, settled, move }
}

/** The initial rate: the median rate of the lane's quotes, or else the going rate based on other lanes; null without any. */
function useStartRate(asked: Asked, record: LaneRecord, insight: FoundInsight | null): number | null {
  const middle = middleRate(record.points)
  const wider = insight === null ? 0 : Math.round(insight.history.avg_rate_usd)
  const going = useAnswer(
    'quote-advice',
    { query: { ...asked, proposed_rate: wider, include: 'estimate' } },
    { enabled: middle === null && wider > 0 },
  )
  if (middle !== null) return middle
  if (going.isError) return wider
  const reference = going.data?.estimate?.reference_rate ?? null
  return reference === null ? null : Math.round(reference)
}

function Lane({
  asked,
  record,
  isBusy,
  openings,
}: {
  asked: Asked
  record: LaneRecord
  isBusy: boolean
  openings: Readonly<Record<'more' | 'api', Opening>>
}) {
  const insight = useAnswer('lane-advice', { query: insightInto(asked) })
  const found = insight.data?.found === true ? insight.data : null
  const { rate, settled, move } = useRate(useStartRate(asked, record, found))
  const advice = useAnswer(
    'quote-advice',
    {
      query: {
        ...asked,
        proposed_rate: settled ?? 0,
        include: 'basis,estimate,curve,optimum,evidence',
        evidence_limit: 1,
      },
    },
    { enabled: settled !== null && !isBusy, keeps: true, comesBack: true },
  )
  return (
    <Stack gap="md" aria-busy={isBusy} style={isBusy ? { opacity: 0.6 } : {}}>
      <UnknownPlaces record={record} asked={asked} />
      <Group gap="sm">
        <EquipmentLinks record={record} />
        <RateTypeLinks rateType={asked.rate_type} quotes={insight.data?.pool?.quotes ?? null} />
      </Group>
      <Section title="At a glance" aside={<Notes insight={insight.data} advice={advice.data} />}>
        <LaneFigures record={record} advice={advice.data ?? null} />
      </Section>
      <div className="lane-sides">
        <Section title="Win curve" busy={advice.isFetching}>
          <Curve
            advice={advice}
            rate={rate}
            settled={settled}
            move={move}
            record={record}
            isWaiting={insight.isPending}
          />
        </Section>
        {record.points_total > 0 && (
          <Section title="Last quotes" id={quotesAnchor}>
            <LaneQuotes
              record={record}
              question={settled === null || isBusy ? null : { ...asked, proposed_rate: settled }}
              miles={advice.data?.estimate?.miles ?? record.miles}
            />
          </Section>
        )}
      </div>
      <More title="Map, market and months" opening={openings.more}>
        <LaneMap record={record} />
        {insight.data?.market !== undefined && (
          <Section title="Your rates and the market">
            <MarketReferences references={insight.data.market} lane={asked} />
          </Section>
        )}
        {record.points_total > 0 && <LaneDots record={record} band={bandOf(advice.data)} />}
        {record.months.length > 0 && <LaneMonths months={record.months} />}
      </More>
      <More title="What the API says" opening={openings.api}>
        <LaneApi insight={insight} advice={advice.data} rateDollars={settled} />
      </More>
    </Stack>
  )
}

function bandOf(advice: Answer<'quote-advice'> | undefined) {
  return advice?.found === true ? advice.rate_band : null
}

/** Suggestions for an origin or destination that is not a known place. */
function UnknownPlaces({ record, asked }: { record: LaneRecord; asked: Asked }) {
  const unknown = (['origin', 'destination'] as const).filter((end) => record[end].latitude === null)
  if (unknown.length === 0) return null
  return (
    <Alert color="lane" variant="outline" title="Unknown place">
      {unknown.map((end) => (
        <PlaceOffers key={end} end={end} typed={asked[end]} />
      ))}
    </Alert>
  )
}

/** What the numbers are based on, where it is not the lane's own quotes. */
function Notes({
  insight,
  advice,
}: {
  insight: Answer<'lane-advice'> | undefined
  advice: Answer<'quote-advice'> | undefined
}) {
  return (
    <Stack gap="xs" aria-live="polite">
      {insight?.found === false && (
        <Text size="sm">You have too few quotes for advice on this lane, even from similar lanes.</Text>
      )}
      <BasisNote basis={advice?.basis ?? insight?.basis} />
      {advice?.found === false && insight?.found === true && (
        <Text size="sm">You have no quotes on this lane yet. The numbers are based on your other lanes.</Text>
      )}
    </Stack>
  )
}

function Curve({
  advice,
  rate,
  settled,
  move,
  record,
  isWaiting,
}: {
  advice: ReturnType<typeof useAnswer<'quote-advice'>>
  rate: number | null
  settled: number | null
  move: (rateDollars: number) => void
  record: LaneRecord
  isWaiting: boolean
}) {
  if (rate === null && !isWaiting) {
    return <Nothing title="No rate to start with">Quote this lane or a similar lane first.</Nothing>
  }
  if (advice.isError) {
    return (
      <Failed
        error={advice.error}
        retry={() => void advice.refetch()}
        {...(rate === null ? {} : { title: `No advice for ${dollars(rate)} yet` })}
      />
    )
  }
  if (advice.data === undefined || rate === null) {
    return <Loading rows={10} height={28} label="Loading the win curve" />
  }
  return (
    <LaneCurve
      advice={advice.data}
      points={record.points}
      rateDollars={rate}
      onRate={move}
      isCurrent={rate === settled && !advice.isPlaceholderData}
    />
  )
}
