import { Button, Group, Kbd, Paper, Text } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import type { Answer } from '../api/index.ts'
import {
  ButtonLink,
  count,
  dollars,
  InRed,
  percent,
  probability,
  range,
  ratePerMile,
  readDollars,
  roundDollars,
} from '../shared-ui/index.ts'
import type { DeskAnswer } from './desk-answer.ts'
import { type Pricing, type RateValue, type Standing, standingOf } from './desk-pricing.ts'
import type { ComparedQuote } from './desk-terms.ts'
import { basisInWords, customerInWords, standingInWords, trustInWords } from './desk-words.ts'

type Estimate = NonNullable<Answer<'quote-advice'>['estimate']>

interface LinesProps {
  readonly answer: DeskAnswer
  readonly pricing: Pricing | null
  readonly typed: RateValue | null
  readonly terms: ComparedQuote
  readonly onUse: (rate: number) => void
}

/**
 * The answer for a quote in three lines: the rate to quote, the typed rate compared with it, and the trust in both. The frame
 * keeps its size while data loads.
 */
export function AnswerLines({ answer, pricing, typed, terms, onUse }: LinesProps) {
  const { advice, asking, failure } = answer
  const estimate = advice?.estimate
  return (
    <Paper withBorder p="sm" className="desk-answer">
      {pricing !== null && estimate !== undefined ? (
        <>
          <QuoteLine pricing={pricing} terms={terms} onUse={onUse} />
          <TypedLine pricing={pricing} typed={typed} notCompared={terms.notCompared} />
          <TrustLine
            estimate={estimate}
            rate={answer.isForRate ? answer.rate : null}
            interval80={(typed ?? pricing.quote).interval80}
          />
          <Text size="xs" c="dimmed">
            {terms.words}
          </Text>
        </>
      ) : advice !== null ? (
        <>
          <CostPlus lane={terms.lane} miles={estimate?.miles ?? null} own={terms.own} onUse={onUse} />
          <NoRate answer={answer} estimate={estimate} />
        </>
      ) : (
        <Text size="sm" c="dimmed">
          {!asking
            ? 'Enter an origin and a destination as City, ST. The rate to quote then appears here.'
            : failure === null
              ? 'Loading the advice…'
              : 'The advice appears here when the service answers.'}
        </Text>
      )}
    </Paper>
  )
}

/** Why there is no rate to quote, and what would change it. */
function NoRate({ answer, estimate }: { answer: DeskAnswer; estimate: Estimate | undefined }) {
  if (estimate?.flags.includes('no_ground') === true) {
    return <Text size="sm">Not enough to go on: {unknownInWords(answer.unknown)}.</Text>
  }
  if (estimate?.probability != null) {
    const going =
      estimate.reference_rate === null ? '' : ` The going rate is ${roundDollars(estimate.reference_rate)}.`
    return (
      <Text size="sm">
        No rate to quote: the cost is above all rates that this lane is likely to pay, or that your rules
        allow.{going}
        {answer.isForRate && answer.rate !== null
          ? ` Your ${dollars(answer.rate)}: win ${probability(estimate.probability)}.`
          : ''}
      </Text>
    )
  }
  return (
    <Group justify="space-between" gap="sm">
      <Text size="sm">{estimate?.sentence ?? 'There is not enough to go on: you have no quotes yet.'}</Text>
      <ButtonLink to={pagePaths.imports} size="sm">
        Import past quotes
      </ButtonLink>
    </Group>
  )
}

/** @example unknownInWords({ origin: true, destination: false }) // 'the origin is not known' */
function unknownInWords({ origin, destination }: DeskAnswer['unknown']): string {
  if (origin && destination) return 'neither the origin nor the destination is known'
  if (origin || destination) return `the ${origin ? 'origin' : 'destination'} is not known`
  return 'the miles of the lane are not known'
}

/** Markups that are usual in brokerage, in percent of the cost. */
const markups = [10, 15, 20] as const

/**
 * Arithmetic without any history: the miles, the dollars per mile and the margin of the typed rate, and the cost with usual
 * markups.
 */
function CostPlus({
  lane: quote,
  miles,
  own,
  onUse,
}: Pick<LinesProps, 'onUse'> & Pick<ComparedQuote, 'lane' | 'own'> & { miles: number | null }) {
  const [rate, cost] = [readDollars(quote.rate), readDollars(quote.cost)]
  const margin = rate === null || cost === null ? null : Math.round((rate - cost) * 100) / 100
  return (
    <>
      <Text
        size="sm"
        component="div"
        className="desk-figures"
        aria-label="Arithmetic of the quote"
        role="group"
      >
        {miles !== null && (
          <span>
            <b>{count(miles)} mi</b>
          </span>
        )}
        {rate !== null && (
          <span>
            Your <b>{dollars(rate)}</b>
            {miles === null ? '' : ` is ${ratePerMile(rate / miles)}`}
          </span>
        )}
        {margin !== null && rate !== null && (
          <span>
            <InRed when={margin < 0}>
              margin <b>{dollars(margin)}</b> ({percent((margin / rate) * 100)})
            </InRed>
          </span>
        )}
        {cost === null && <span>Enter an estimated cost under More: the desk adds your markup.</span>}
      </Text>
      {cost !== null && (
        <Group gap="xs" role="group" aria-label="Cost with a markup">
          {markups.map((percentOfCost) => {
            const marked = Math.round(cost * (1 + percentOfCost / 100))
            return (
              <Button
                key={percentOfCost}
                size="compact-sm"
                variant="default"
                disabled={own(marked) === null}
                onClick={() => onUse(marked)}
              >
                Cost + {percentOfCost}%: {dollars(marked)}
                {miles === null ? '' : ` · ${ratePerMile(marked / miles)}`}
              </Button>
            )
          })}
        </Group>
      )}
    </>
  )
}

function QuoteLine({ pricing, terms, onUse }: Pick<LinesProps, 'terms' | 'onUse'> & { pricing: Pricing }) {
  const { quote } = pricing
  const own = terms.own(quote.rate)
  return (
    <div className="desk-quote-line">
      <div>
        <Text span fw={700} fz="xl">
          Quote {dollars(quote.rate)}
        </Text>
        {' · '}
        <Figures value={quote} />
        <Text span size="xs" c="dimmed">
          {' '}
          {basisInWords(pricing)}
        </Text>
      </div>
      <Button
        size="sm"
        style={{ flex: 'none' }}
        aria-keyshortcuts="Alt+U"
        disabled={own === null}
        rightSection={
          <Kbd size="xs" aria-hidden visibleFrom="sm">
            Alt+U
          </Kbd>
        }
        onClick={() => onUse(quote.rate)}
      >
        Use {dollars(own ?? quote.rate)}
      </Button>
    </div>
  )
}

/** The chance, the margin and the worth of a rate. */
function Figures({ value }: { value: RateValue }) {
  const { chance, interval80, margin, marginPct, worth, beyond } = value
  return (
    <Text span className="desk-figures">
      <span>
        win {beyond === null ? '' : beyond === 'below' ? 'at least ' : 'at most '}
        <b>{probability(chance)}</b> ({range(interval80)})
      </span>
      {margin !== null && (
        <span>
          <InRed when={margin < 0}>
            margin <b>{dollars(margin)}</b> ({percent(marginPct)})
          </InRed>
        </span>
      )}
      {worth !== null && (
        <span>
          <InRed when={worth < 0}>
            worth <b>{roundDollars(worth)}</b> a quote
          </InRed>
        </span>
      )}
    </Text>
  )
}

const standingMarks: Readonly<Record<Standing, string>> = {
  same: '✓',
  near: '≈',
  off: '▲',
  high: '▲',
  low: '▼',
}

function TypedLine({
  pricing,
  typed,
  notCompared,
}: {
  pricing: Pricing
  typed: RateValue | null
  notCompared: string | null
}) {
  if (typed === null) {
    return (
      <Text size="sm" c="dimmed" className="desk-typed-line">
        {notCompared ?? 'Type a rate to compare it with this quote.'}
      </Text>
    )
  }
  const standing = standingOf(typed, pricing)
  return (
    <Text size="sm" component="div" className="desk-typed-line" data-standing={standing}>
      <span aria-hidden>{standingMarks[standing]}</span> <b>Your {dollars(typed.rate)}</b>
      {standing === 'same' ? null : (
        <>
          {': '}
          <Figures value={typed} />
        </>
      )}
      {standingInWords(typed, pricing)}
    </Text>
  )
}

function TrustLine({
  estimate,
  rate,
  interval80,
}: {
  estimate: Estimate
  /** The typed rate that the estimate is for; null without one. */
  rate: number | null
  interval80: { readonly low: number; readonly high: number }
}) {
  const { trust, word, basis } = trustInWords(estimate, interval80, Date.now())
  return (
    <Text size="sm" component="div" data-trust={trust}>
      <b>Trust: {word.toLowerCase()}.</b> {basis} {customerInWords(estimate, rate)}
    </Text>
  )
}
