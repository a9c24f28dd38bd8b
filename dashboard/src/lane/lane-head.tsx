import { IconArrowsExchange, IconReceipt } from 'virtual:tabler-icons'
import { Group } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import {
  ButtonLink,
  count,
  counted,
  equipmentName,
  percent,
  type RateType,
  ratePerMile,
  rateTypeNames,
  roundDollars,
} from '../shared-ui/index.ts'
import { changed, laneOf, useLaneAddress } from './lane-address.ts'
import type { LaneAdvice } from './lane-curve.tsx'
import type { LaneRecord } from './lane-evidence.ts'
import { Figure, Figures, QuotesLink } from './lane-section.tsx'

export function LaneActions({ origin, destination }: { origin: string; destination: string }) {
  const { address } = useLaneAddress()
  const lane = laneOf(address)
  return (
    <>
      <ButtonLink to={pagePaths.lane} variant="subtle" size="sm">
        Another lane
      </ButtonLink>
      <ButtonLink
        to={pagePaths.lane}
        query={changed(lane, { origin: destination, destination: origin })}
        variant="default"
        size="sm"
        leftSection={<IconArrowsExchange size={16} aria-hidden />}
      >
        Swap direction
      </ButtonLink>
      <ButtonLink
        to={pagePaths.desk}
        query={changed(lane, { origin, destination })}
        size="sm"
        leftSection={<IconReceipt size={16} aria-hidden />}
      >
        Quote this lane
      </ButtonLink>
    </>
  )
}

/** Links to the lane by equipment, and to all equipment together. */
export function EquipmentLinks({ record }: { record: LaneRecord }) {
  const { address } = useLaneAddress()
  const lane = laneOf(address)
  const asked = lane.equipment?.toUpperCase()
  const all = record.equipment.reduce((sum, { quotes }) => sum + quotes, 0)
  const isListed = asked === undefined || record.equipment.some(({ equipment }) => equipment === asked)
  const choices = [
    ...(isListed || asked === undefined ? [] : [{ code: asked, name: equipmentName(asked), quotes: 0 }]),
    ...record.equipment.map(({ equipment, quotes }) => ({
      code: equipment,
      name: equipmentName(equipment),
      quotes,
    })),
    { code: undefined, name: 'All', quotes: all },
  ]
  return (
    <Group component="nav" aria-label="Equipment" gap={6}>
      {choices.map(({ code, name, quotes }) => (
        <ButtonLink
          key={code ?? 'all'}
          to={pagePaths.lane}
          query={changed(lane, { equipment: code })}
          stays
          size="compact-sm"
          variant={code === asked ? 'filled' : 'default'}
          isHere={code === asked}
        >
          {name} · {count(quotes)}
        </ButtonLink>
      ))}
    </Group>
  )
}

/** Links to the spot and to the contract quotes of the lane. The page is about one of the two types. */
export function RateTypeLinks({
  rateType,
  quotes,
}: {
  rateType: RateType
  quotes: Readonly<Record<RateType, number>> | null
}) {
  const { address } = useLaneAddress()
  const lane = laneOf(address)
  return (
    <Group component="nav" aria-label="Rate type" gap={6}>
      {(['spot', 'contract'] as const).map((one) => (
        <ButtonLink
          key={one}
          to={pagePaths.lane}
          query={changed(lane, { rate_type: one })}
          stays
          size="compact-sm"
          variant={one === rateType ? 'filled' : 'default'}
          isHere={one === rateType}
        >
          {rateTypeNames[one]}
          {quotes === null ? '' : ` · ${count(quotes[one])}`}
        </ButtonLink>
      ))}
    </Group>
  )
}

/** What a rep asks first about the lane, each figure with its basis. */
export function LaneFigures({ record, advice }: { record: LaneRecord; advice: LaneAdvice | null }) {
  const won = record.months.reduce((sum, month) => sum + month.won, 0)
  const lost = record.months.reduce((sum, month) => sum + month.lost, 0)
  const decided = won + lost
  const miles = advice?.estimate?.miles ?? record.miles
  const perMile = (rate: number) => (miles === null ? '' : ratePerMile(rate / miles))
  const going = advice?.estimate?.reference_rate ?? null
  const cost = advice?.estimate?.expected_cost ?? null
  return (
    <Figures>
      <Figure
        label="Expected cost"
        value={roundDollars(cost?.amount ?? null)}
        basis={
          cost === null
            ? 'needs a known truck cost'
            : `${roundDollars(cost.low)} to ${roundDollars(cost.high)}`
        }
      />
      <BestRate advice={advice} perMile={perMile} />
      <Figure
        label="Going rate"
        value={roundDollars(going)}
        basis={
          going === null
            ? miles === null
              ? 'not enough to go on'
              : 'no quotes yet'
            : perMile(going) || 'today'
        }
      />
      <Figure
        label="Win rate"
        value={decided === 0 ? '–' : percent((won / decided) * 100)}
        basis={
          decided === 0 ? (
            'none decided'
          ) : (
            <>
              <QuotesLink chosen={{ outcome: 'won' }}>{count(won)} won</QuotesLink> of {count(decided)}{' '}
              decided
            </>
          )
        }
      />
      <Figure
        label="Quotes"
        value={
          record.points_total === 0 ? (
            'None yet'
          ) : (
            <QuotesLink chosen={{}}>{count(record.points_total)}</QuotesLink>
          )
        }
        basis={record.points_total === 0 ? 'on this lane' : `in ${counted(record.months.length, 'month')}`}
      />
      <Figure
        label="Miles"
        value={miles === null ? '–' : count(miles)}
        basis={miles === null ? 'unknown place' : 'road miles'}
      />
    </Figures>
  )
}

/** The rate with the best expected margin, not below the minimum of the brokerage. */
function BestRate({ advice, perMile }: { advice: LaneAdvice | null; perMile: (rate: number) => string }) {
  const optimum = advice?.optimum ?? null
  const isRaised = optimum !== null && optimum.floor !== null && optimum.floored_rate > optimum.rate
  const rate = optimum === null ? null : isRaised ? optimum.floored_rate : optimum.rate
  return (
    <Figure
      label="Best rate"
      value={roundDollars(rate)}
      basis={
        optimum === null || rate === null
          ? advice?.estimate?.flags.includes('no_rate_earns') === true
            ? 'no likely rate covers the cost'
            : 'needs a known truck cost'
          : [
              perMile(rate),
              isRaised
                ? 'your minimum'
                : `nearly as good from ${roundDollars(optimum.flat_zone.low)} to ${roundDollars(optimum.flat_zone.high)}`,
            ]
              .filter((words) => words !== '')
              .join('; ')
      }
    />
  )
}
