import { Button, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useState } from 'react'
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
  Margin,
  probability,
  ratePerMile,
  roundDollars,
  signedPercent,
  TextLink,
} from '../shared-ui/index.ts'
import type { DeskAnswer } from './desk-answer.ts'
import type { DeskQuote } from './desk-draft.ts'
import type { Pricing } from './desk-pricing.ts'
import {
  changesInWords,
  countInWords,
  countsOf,
  flagsInWords,
  raisesInWords,
  scopeInWords,
} from './desk-words.ts'
import { UnknownPlaces } from './unknown-places.tsx'

type Advice = Answer<'quote-advice'>

interface WhyProps {
  readonly quote: DeskQuote
  readonly answer: DeskAnswer
  readonly pricing: Pricing | null
  readonly onUse: (rate: number) => void
}

/** The reasons behind the answer, on request. Notes that limit the answer are always visible. */
export function Why({ quote, answer, pricing, onUse }: WhyProps) {
  const [isOpen, setOpen] = useState(false)
  const { advice } = answer
  if (advice === null) return null
  const notes = flagsInWords(advice.estimate?.flags ?? [])
  return (
    <>
      <UnknownPlaces answer={advice} />
      <Listed title="Notes" items={notes} />
      <BasisNote basis={advice.basis} />
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="desk-why">Why?</summary>
        {isOpen && (
          <Stack gap="sm" mt="xs">
            <Costs answer={answer} pricing={pricing} />
            <WouldChange answer={answer} />
            <History quote={quote} answer={answer} />
            <Integration answer={answer} advice={advice} onUse={onUse} />
          </Stack>
        )}
      </details>
    </>
  )
}

function Fact({ name, children, action }: { name: string; children: ReactNode; action?: ReactNode }) {
  return (
    <div className="desk-fact">
      <dt>{name}</dt>
      <dd style={action === undefined ? { gridColumn: '2 / -1' } : undefined}>{children}</dd>
      {action !== undefined && <dd>{action}</dd>}
    </div>
  )
}

function Costs({ answer: { advice, rate }, pricing }: { answer: DeskAnswer; pricing: Pricing | null }) {
  const { miles = null, expected_cost: expected = null } = advice?.estimate ?? {}
  const shown = rate ?? pricing?.quote.rate ?? null
  const margin = shown === null || pricing?.cost == null ? null : shown - pricing.cost.amount
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
        <Fact name="Nearly as good">
          {pricing?.zone == null
            ? '–'
            : `${roundDollars(pricing.zone.low)} to ${roundDollars(pricing.zone.high)}`}
        </Fact>
        <Fact name="Your minimum">{pricing?.floor == null ? '–' : dollars(Math.ceil(pricing.floor))} </Fact>
      </dl>
      <Text size="xs" c="dimmed">
        {expected === null
          ? ''
          : `The expected cost is based on ${expected.own_loads === 0 ? 'your loads on other lanes' : counted(expected.own_loads, 'load on this lane', 'loads on this lane')}. `}
        <TextLink to={pagePaths.settings}>Minimum rates</TextLink>
      </Text>
      {expected !== null && <CostsAhead cost={expected} />}
    </div>
  )
}

/** The events that would change the estimate at the typed rate. Renders nothing for advice on another rate. */
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

/** What the integration interface answers for this lane. The values count past quotes and are not the estimate above. */
function Integration({
  answer: { rate, isForRate },
  advice,
  onUse,
}: {
  answer: DeskAnswer
  advice: Advice
  onUse: (rate: number) => void
}) {
  const { equipment } = advice.query
  return (
    <div>
      <Heading>What the API says</Heading>
      {advice.found ? (
        <>
          <Text size="xs" c="dimmed" mb={4}>
            These numbers count your past quotes on this lane. They are not a forecast.
          </Text>
          <dl className="desk-facts">
            <Fact name="Share won">
              {rate === null ? 'needs a rate' : isForRate ? <ShareWon advice={advice} /> : '…'}
            </Fact>
            <Fact name="Suggested rate" action={<UseSuggested rate={advice.suggested_rate} onUse={onUse} />}>
              {dollars(advice.suggested_rate)}
            </Fact>
            <Fact name="Range of your rates">
              {advice.rate_band.floor === null
                ? '–'
                : `${roundDollars(advice.rate_band.floor)} to ${roundDollars(advice.rate_band.ceiling)}`}
            </Fact>
            <Fact name="Median rate">{roundDollars(advice.rate_band.median)}</Fact>
            <Fact
              name={advice.market?.used.startsWith('market') ? 'Against the market' : 'Against your median'}
            >
              {rate === null ? 'needs a rate' : isForRate ? signedPercent(advice.markup_pct) : '…'}
            </Fact>
            <Fact name="Confidence">
              {advice.confidence} · {counted(countsOf(advice)?.decided ?? 0, 'decided quote')}
            </Fact>
          </dl>
          {rate !== null && isForRate && (
            <Text size="sm" mt={4}>
              {advice.verdict}
            </Text>
          )}
        </>
      ) : (
        <Text size="sm">
          {`You have no quotes on this lane${equipment === null ? '' : ` with ${equipmentName(equipment)}`} yet, so the API knows no rate.`}
        </Text>
      )}
    </div>
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

function UseSuggested({ rate, onUse }: { rate: number | null; onUse: (rate: number) => void }) {
  if (rate === null) return null
  const whole = Math.round(rate)
  return (
    <Button
      size="compact-xs"
      mih={24}
      variant="default"
      aria-label={`Use ${dollars(whole)}, the suggested rate`}
      onClick={() => onUse(whole)}
    >
      Use
    </Button>
  )
}

function History({ quote, answer: { advice, insight } }: { quote: DeskQuote; answer: DeskAnswer }) {
  if (advice === null) return null
  const { origin, destination } = advice.query
  return (
    <div>
      <Heading>Lane history</Heading>
      <Text size="sm">
        {insight?.found === true
          ? `Based on ${scopeInWords(insight.scope)}. ${insight.summary}`
          : 'There is no history yet.'}{' '}
        <TextLink to={pagePaths.lane} query={{ origin, destination, equipment: quote.equipment.trim() }}>
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
