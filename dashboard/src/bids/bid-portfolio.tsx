import { Button, CloseButton, Group, NativeSelect, NumberInput, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { bidCellsMax } from '#contract/limits.ts'
import { STATES_OF_REGION } from '#engine/regions.ts'
import { type Answer, type Body, useChange } from '../api/index.ts'
import { count, counted, Failed, Figures, roundDollars, Section, signedDollars } from '../shared-ui/index.ts'
import type { Bid } from './bid-words.ts'
import { Frontier } from './frontier.tsx'
import { saveFile } from './save-file.ts'
import { useBidChanged } from './use-bid.ts'

type Asked = Body<'choose-bid-rates'>
type Choice = Answer<'choose-bid-rates'>
type Cap = NonNullable<Asked['caps']>[number]

const frontierPoints = 7
const places = Object.entries(STATES_OF_REGION).flatMap(([region, states]) => [
  region,
  ...(region.startsWith('US') ? states.split(' ') : []),
])

/** Limits as they are typed. An empty text leaves its limit out. */
interface Typed {
  readonly caps: readonly {
    readonly end: Cap['end']
    readonly place: string
    readonly loads: number | string
  }[]
  readonly margin: number | string
  readonly laneMargin: number | string
  readonly loadsMin: number | string
  readonly loadsMax: number | string
  readonly tendered: number | string
}
const typedAtFirst: Typed = {
  caps: [],
  margin: '',
  laneMargin: '',
  loadsMin: '',
  loadsMax: '',
  tendered: 100,
}

function limitsOf({
  caps,
  margin,
  laneMargin,
  loadsMin,
  loadsMax,
  tendered,
}: Typed): Omit<Asked, 'frontier_points'> {
  const sent = caps.filter(({ loads }) => loads !== '')
  return {
    ...(sent.length === 0
      ? {}
      : { caps: sent.map(({ end, place, loads }) => ({ end, place, loads_per_week: Number(loads) })) }),
    ...(margin === '' ? {} : { margin_pct_min: Number(margin) }),
    ...(laneMargin === '' ? {} : { lane_margin_pct_min: Number(laneMargin) }),
    ...(loadsMin === '' ? {} : { loads_min: Number(loadsMin) }),
    ...(loadsMax === '' ? {} : { loads_max: Number(loadsMax) }),
    ...(tendered === '' ? {} : { tendered_pct: Number(tendered) }),
  }
}

/** Chooses the rates of all lanes together within limits, shows what that earns and how sure it is, and saves them as one change. */
export function BidPortfolio({ bid }: { bid: Bid }) {
  const [typed, setTyped] = useState(typedAtFirst)
  const choose = useChange('choose-bid-rates')
  const limits = limitsOf(typed)
  const body = { ...limits, frontier_points: frontierPoints }
  const params = { bid_id: bid.bid_id }
  // A choice within other limits, or of lanes that have changed, is no longer shown.
  const shown =
    choose.data !== undefined &&
    JSON.stringify(choose.variables?.body) === JSON.stringify(body) &&
    choose.data.seen_change === bid.last_change
      ? choose.data
      : null
  return (
    <Section
      title="Rates together"
      hint="Chooses one rate for each lane, or not to bid it, so that the whole bid is expected to earn most within your limits. Nothing changes until you use the rates."
    >
      <Stack gap="sm">
        <Caps caps={typed.caps} onCaps={(caps) => setTyped({ ...typed, caps })} />
        <Group gap="sm" align="flex-end">
          <LimitFields typed={typed} onTyped={(next) => setTyped({ ...typed, ...next })} />
          <Button
            variant="default"
            loading={choose.isPending}
            onClick={() => choose.mutate({ params, body })}
          >
            Choose rates
          </Button>
        </Group>
        {choose.isPending && (
          <Text size="sm" role="status">
            Choosing the rates of {counted(bid.lanes, 'lane')}. A large bid takes up to half a minute.
          </Text>
        )}
        {choose.error !== null && <Failed error={choose.error} title="No rates were chosen" />}
        {shown !== null && <Chosen bid={bid} choice={shown} limits={limits} />}
      </Stack>
    </Section>
  )
}

function Caps({ caps, onCaps }: { caps: Typed['caps']; onCaps: (caps: Typed['caps']) => void }) {
  const change = (at: number, next: Partial<Typed['caps'][number]>) =>
    onCaps(caps.map((cap, nth) => (nth === at ? { ...cap, ...next } : cap)))
  return (
    <Stack gap="xs">
      {caps.map((cap, at) => (
        // Rows have no name of their own, and are only added at the end or removed.
        // biome-ignore lint/suspicious/noArrayIndexKey: the place in the list is what a row is.
        <Group key={at} gap="sm" align="flex-end" role="group" aria-label={`Cap ${at + 1}`}>
          <NativeSelect
            label="Loads"
            value={cap.end}
            data={[
              { value: 'origin', label: 'out of' },
              { value: 'destination', label: 'into' },
            ]}
            onChange={(event) => change(at, { end: event.currentTarget.value as Cap['end'] })}
          />
          <NativeSelect
            label="Region or state"
            value={cap.place}
            data={places}
            onChange={(event) => change(at, { place: event.currentTarget.value })}
          />
          <NumberInput
            label="At most per week"
            value={cap.loads}
            onChange={(loads) => change(at, { loads })}
            min={0}
            max={100_000}
            w="9rem"
          />
          <CloseButton
            aria-label={`Remove cap ${at + 1}`}
            onClick={() => onCaps(caps.filter((_, nth) => nth !== at))}
          />
        </Group>
      ))}
      <Group>
        <Button
          variant="subtle"
          size="compact-sm"
          onClick={() => onCaps([...caps, { end: 'origin', place: 'US-SE', loads: '' }])}
        >
          Add a cap on loads
        </Button>
      </Group>
    </Stack>
  )
}

const numberFields = [
  { name: 'margin', label: 'Margin of bid, least %', max: 90 },
  { name: 'laneMargin', label: 'Margin of lane, least %', max: 90 },
  { name: 'loadsMin', label: 'Expected loads, least', max: 10_000_000 },
  { name: 'loadsMax', label: 'Expected loads, most', max: 10_000_000 },
  { name: 'tendered', label: 'Tendered of awarded, %', max: 100 },
] as const

function LimitFields({ typed, onTyped }: { typed: Typed; onTyped: (next: Partial<Typed>) => void }) {
  return numberFields.map(({ name, label, max }) => (
    <NumberInput
      key={name}
      label={label}
      value={typed[name]}
      onChange={(value) => onTyped({ [name]: value })}
      min={name === 'tendered' ? 1 : 0}
      max={max}
      w="12rem"
    />
  ))
}

function Chosen({ bid, choice, limits }: { bid: Bid; choice: Choice; limits: Body<'certify-bid-rates'> }) {
  const params = { bid_id: bid.bid_id }
  const save = useChange('set-bid-rates')
  const certify = useChange('certify-bid-rates')
  const { reread } = useBidChanged(bid.bid_id)
  const { chosen, rates } = choice
  if (chosen === null) return <Text role="status">{noneWords(choice)}</Text>
  const use = async () => {
    const cells = rates.map(({ lane, version, after }) => ({
      lane,
      version,
      ...(after === null ? {} : { rate: after }),
    }))
    for (let from = 0; from < cells.length; from += bidCellsMax) {
      const part = cells.slice(from, from + bidCellsMax)
      await save.mutateAsync({ params, body: { cells: part, words: 'Rates chosen together' } })
    }
    await reread()
  }
  return (
    <>
      <ChosenFigures chosen={chosen} />
      <Text size="sm">{chosenWords(choice)}</Text>
      {choice.frontier.length > 1 && <Frontier points={choice.frontier} chosen={chosen} />}
      <Group>
        <Button
          disabled={rates.length === 0}
          loading={save.isPending}
          onClick={() => void use().catch(() => {})}
        >
          Use the rates for {counted(rates.length, 'lane')}
        </Button>
        <Button
          variant="default"
          loading={certify.isPending}
          onClick={() => certify.mutate({ params, body: limits }, { onSuccess: saveFile })}
        >
          Download the certificate
        </Button>
      </Group>
      {save.error !== null && <Failed error={save.error} title="The rates were not saved" />}
      {certify.error !== null && <Failed error={certify.error} title="There is no certificate" />}
    </>
  )
}

function ChosenFigures({ chosen }: { chosen: NonNullable<Choice['chosen']> }) {
  const away = chosen.bound - chosen.expected_margin
  return (
    <Figures
      label="What the chosen rates are expected to earn"
      loading={false}
      figures={[
        {
          label: 'Expected profit',
          value: roundDollars(chosen.expected_margin),
          note:
            away < 0.005
              ? 'No other rates within the limits earn more'
              : `Others could earn ${roundDollars(away)} more at most`,
        },
        {
          label: 'Against lane by lane',
          value:
            chosen.lane_by_lane === null ? '–' : signedDollars(chosen.expected_margin - chosen.lane_by_lane),
          note: "Each lane's own best rate, less lanes until the limits hold",
        },
        { label: 'Expected revenue', value: roundDollars(chosen.expected_revenue), note: '' },
        {
          label: 'Expected loads',
          value: count(Math.round(chosen.expected_loads)),
          note: chosen.not_bid === 0 ? 'All lanes are bid' : `${counted(chosen.not_bid, 'lane')} not bid`,
        },
      ]}
    />
  )
}

function noneWords({ state, most_loads: most }: Choice): string {
  const loads =
    most === null ? '' : ` At most ${count(Math.floor(most))} loads can be expected within the other limits.`
  return state === 'impossible'
    ? `No rates keep these limits.${loads}`
    : `No rates within these limits were found in time.${loads} Loosen one of them.`
}

/** What the limits cost, and which lanes are not part of the choice. */
function chosenWords({ limits, left_out: leftOut }: Choice): string {
  const costs = limits
    .filter(({ price }) => price > 0)
    .sort((one, other) => other.price - one.price)
    .slice(0, 5)
    .map(({ limit, place, price }) => {
      if (limit === 'margin_share') return 'The least margin of the bid costs expected profit.'
      if (limit === 'region') {
        const [end = '', of = ''] = (place ?? '').split(' ')
        return `One more load per week ${end === 'origin' ? 'out of' : 'into'} ${of} would earn about ${roundDollars(price)}.`
      }
      return limit === 'loads_max'
        ? `One more load of the contract would earn about ${roundDollars(price)}.`
        : `The last load that you ask for costs about ${roundDollars(price)}.`
    })
  return [
    ...costs,
    ...(leftOut > 0
      ? [
          `${counted(leftOut, 'lane keeps its rate', 'lanes keep their rate')}, because cost, loads or chance is not known.`,
        ]
      : []),
  ].join(' ')
}
