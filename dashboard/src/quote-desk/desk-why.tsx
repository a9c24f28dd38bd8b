import { Button, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import type { Answer } from '../api/index.ts'
import {
  BasisNote,
  basedOn,
  CostsAhead,
  count,
  counted,
  dollars,
  equipmentName,
  historyInWords,
  Margin,
  MarketReferences,
  probability,
  range,
  ratePerMile,
  roundDollars,
  signedPercent,
  TextLink,
} from '../shared-ui/index.ts'
import type { DeskAnswer } from './desk-answer.ts'
import { type DeskLane, rateTypeOf } from './desk-draft.ts'
import type { Pricing, RateValue } from './desk-pricing.ts'
import { MarginAtRisk } from './desk-risk-chart.tsx'
import { DeskRules } from './desk-rules.tsx'
import {
  changesInWords,
  countInWords,
  countsOf,
  customerInWords,
  flagsInWords,
  raisesInWords,
} from './desk-words.ts'
import { UnknownPlaces } from './unknown-places.tsx'

type Advice = Answer<'quote-advice'>

interface WhyProps {
  readonly lane: DeskLane
  readonly answer: DeskAnswer
  readonly pricing: Pricing | null
  readonly typed: RateValue | null
  /** The quotes behind the estimate, in words; null without an estimate. */
  readonly basis: string | null
  readonly onUse: (rate: number) => void
}

/** What limits the answer. Always visible. */
export function Notes({ answer: { advice } }: Pick<WhyProps, 'answer'>) {
  // The answer says already that there is no ground, and why.
  if (advice === null || advice.estimate?.flags.includes('no_ground') === true) return null
  return (
    <>
      <UnknownPlaces answer={advice} />
      <Listed title="Notes" items={flagsInWords(advice.estimate?.flags ?? [])} />
    </>
  )
}

/** The reasons behind the answer. */
export function Why({ lane, answer, pricing, typed, basis, onUse }: WhyProps) {
  const { advice } = answer
  if (advice === null) return null
  const ofCustomer =
    advice.estimate === undefined
      ? ''
      : customerInWords(advice.estimate, answer.isForRate ? answer.rate : null)
  return (
    <Stack gap="sm" className="desk-reasons">
      {basis !== null && (
        <Text size="sm">
          {basis} {ofCustomer}
        </Text>
      )}
      {pricing !== null && <OtherRates pricing={pricing} onUse={onUse} />}
      <DeskRules rules={pricing?.rules ?? []} />
      <Costs answer={answer} pricing={pricing} typed={typed} />
      <MarginAtRisk answer={answer} pricing={pricing} />
      <WouldChange answer={answer} />
      {advice.market !== undefined && (
        <section aria-label="Your rates and the market">
          <MarketReferences
            references={advice.market}
            lane={{ origin: lane.origin, destination: lane.destination, equipment: lane.equipment }}
          />
        </section>
      )}
      <History lane={lane} answer={answer} />
      <BasisNote basis={advice.basis} />
      <ApiAnswer answer={answer} advice={advice} />
    </Stack>
  )
}

/** The rates beside the one to quote, each with its chance. */
function OtherRates({ pricing, onUse }: { pricing: Pricing; onUse: (rate: number) => void }) {
  const { quote, safer, going } = pricing
  const others = [
    { name: 'Safer', value: safer },
    { name: 'Your usual rate', value: going },
  ].filter(({ value }) => value !== null && value.rate !== quote.rate)
  if (others.length === 0) return null
  return (
    <Group gap="xs" role="group" aria-label="Other rates of this lane">
      {others.map(
        ({ name, value }) =>
          value !== null && (
            <Button key={name} size="compact-sm" variant="default" onClick={() => onUse(value.rate)}>
              {name} {dollars(value.rate)} · {probability(value.chance)}
            </Button>
          ),
      )}
    </Group>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="desk-fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Costs({ answer: { advice, rate }, pricing, typed }: Pick<WhyProps, 'answer' | 'pricing' | 'typed'>) {
  const { miles = null, expected_cost: expected = null } = advice?.estimate ?? {}
  const shown = rate ?? pricing?.quote.rate ?? null
  const margin = shown === null || pricing?.cost == null ? null : shown - pricing.cost.amount
  const shownValue = typed ?? pricing?.quote ?? null
  return (
    <div>
      <Heading>Cost and margin</Heading>
      <dl className="desk-facts">
        <Fact name="Miles">
          {miles === null
            ? '–'
            : `${count(miles)} mi${shown === null ? '' : ` · ${ratePerMile(shown / miles)}`}`}
        </Fact>
        <Fact name="Expected cost">{roundDollars(expected?.amount)}</Fact>
        <Fact name="80% cost range">
          {expected === null ? '–' : `${roundDollars(expected.low)} to ${roundDollars(expected.high)}`}
        </Fact>
        <Fact name={pricing?.cost?.isTyped ? 'Margin over your cost' : 'Margin'}>
          <Margin amount={margin} isRounded />
        </Fact>
        <Fact name="Expected profit: chance times margin">{roundDollars(shownValue?.worth)}</Fact>
        <Fact name="80% range of the chance">{shownValue === null ? '–' : range(shownValue.interval80)}</Fact>
        <Fact name="Nearly as good">
          {pricing?.zone == null
            ? '–'
            : `${roundDollars(pricing.zone.low)} to ${roundDollars(pricing.zone.high)}`}
        </Fact>
        <Fact name="Your floor">{pricing?.floor == null ? '–' : dollars(pricing.floor)}</Fact>
      </dl>
      <Text size="xs" c="dimmed">
        {expected === null
          ? ''
          : `The expected cost is based on ${expected.own_loads === 0 ? 'your loads on other lanes' : counted(expected.own_loads, 'load on this lane', 'loads on this lane')}. `}
        <TextLink to={pagePaths.settings}>Floors</TextLink>
      </Text>
      {expected !== null && <CostsAhead cost={expected} />}
    </div>
  )
}

/** What would change the estimate of the typed rate. Nothing is shown for another rate. */
function WouldChange({ answer: { advice, rate, isForRate } }: { answer: DeskAnswer }) {
  const estimate = advice?.estimate
  if (estimate?.probability == null || rate === null) return null
  if (!isForRate) {
    return (
      <Text size="sm" c="dimmed">
        Loading what would change the estimate at {dollars(rate)}…
      </Text>
    )
  }
  return (
    <>
      <Listed
        title={`What would change the estimate at ${dollars(rate)}`}
        note={`Now ${probability(estimate.probability)}, ${basedOn(estimate)}.`}
        items={changesInWords(estimate)}
      />
      <Listed title="What would narrow the range" items={raisesInWords(estimate)} />
    </>
  )
}

/** The values of the integration interface for this lane. They count past quotes and are not the estimate above. */
function ApiAnswer({ answer: { rate, isForRate }, advice }: { answer: DeskAnswer; advice: Advice }) {
  const { equipment } = advice.query
  return (
    <details>
      <summary className="desk-why">What the API says</summary>
      {advice.found ? (
        <>
          <Text size="xs" c="dimmed" mb={4}>
            These numbers count your past quotes on this lane. They are not a forecast.
          </Text>
          <dl className="desk-facts">
            <Fact name="win_probability">
              {rate === null ? 'needs a rate' : isForRate ? <ShareWon advice={advice} /> : '…'}
            </Fact>
            <Fact name="suggested_rate">{dollars(advice.suggested_rate)}</Fact>
            <Fact name="rate_band">
              {advice.rate_band.floor === null
                ? '–'
                : `${roundDollars(advice.rate_band.floor)} · ${roundDollars(advice.rate_band.median)} · ${roundDollars(advice.rate_band.ceiling)}`}
            </Fact>
            <Fact name="markup_pct">
              {rate === null ? 'needs a rate' : isForRate ? signedPercent(advice.markup_pct) : '…'}
            </Fact>
            <Fact name="confidence">
              {advice.confidence} · {counted(countsOf(advice)?.decided ?? 0, 'answered quote')}
            </Fact>
            {rate !== null && isForRate && <Fact name="verdict">{advice.verdict}</Fact>}
          </dl>
        </>
      ) : (
        <Text size="sm">
          {`You have no quotes on this lane${equipment === null ? '' : ` with ${equipmentName(equipment)}`} yet, so the API answers found: false.`}
        </Text>
      )}
    </details>
  )
}

function ShareWon({ advice }: { advice: Extract<Advice, { found: true }> }) {
  const counts = countsOf(advice)
  if (advice.win_probability === null || counts === null) return '–'
  return (
    <span>
      <b>{probability(advice.win_probability)}</b> · {countInWords(counts, advice.win_probability)}
    </span>
  )
}

function History({ lane, answer: { advice, insight } }: { lane: DeskLane; answer: DeskAnswer }) {
  if (advice === null) return null
  const { origin, destination } = advice.query
  return (
    <div>
      <Heading>Lane history</Heading>
      <Text size="sm">
        {insight?.found === true ? historyInWords(insight) : 'There is no history yet.'}{' '}
        <TextLink
          to={pagePaths.lane}
          query={{ origin, destination, equipment: lane.equipment.trim(), ...rateTypeOf(lane) }}
        >
          Open lane
        </TextLink>
      </Text>
    </div>
  )
}

function Heading({ children }: { children: ReactNode }) {
  return (
    <Title order={3} size="h6">
      {children}
    </Title>
  )
}

function Listed({ title, note, items }: { title: string; note?: string; items: readonly string[] }) {
  if (items.length === 0) return null
  return (
    <div>
      <Heading>{title}</Heading>
      {note !== undefined && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
      <ul className="desk-list">
        {items.map((item, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two lines can have the same text
          <li key={at}>{item}</li>
        ))}
      </ul>
    </div>
  )
}
