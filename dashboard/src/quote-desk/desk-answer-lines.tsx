import { Button, Group, Kbd, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { basisWords } from '#engine/rate-basis.ts'
import { type Answer, useSession } from '../api/index.ts'
import {
  ButtonLink,
  count,
  dollars,
  dollarsIn,
  InRed,
  percent,
  probability,
  range,
  ratePerMile,
  readDollars,
  roundDollars,
} from '../shared-ui/index.ts'
import type { DeskAnswer } from './desk-answer.ts'
import type { DeskQuote } from './desk-draft.ts'
import { type Pricing, type RateValue, type Standing, standingOf } from './desk-pricing.ts'
import type { ComparedQuote } from './desk-terms.ts'
import { basisInWords, standingInWords, trustInWords } from './desk-words.ts'

type Estimate = NonNullable<Answer<'quote-advice'>['estimate']>

interface LinesProps {
  readonly quote: DeskQuote
  readonly answer: DeskAnswer
  readonly pricing: Pricing | null
  readonly typed: RateValue | null
  readonly terms: ComparedQuote
  readonly onUse: (rate: number) => void
}

/**
 * The answer for a quote: what to pay and what to quote, with chance, margin, rate per mile and confidence, and then the typed rate.
 * The frame keeps its size while data loads.
 */
export function AnswerLines({ quote, answer, pricing, typed, terms, onUse }: LinesProps) {
  const { advice, asking, failure } = answer
  const estimate = advice?.estimate
  return (
    <div className="desk-answer" data-framed={advice === null || pricing !== null || undefined}>
      {pricing !== null && estimate !== undefined ? (
        <>
          <QuoteFigures pricing={pricing} terms={terms} miles={estimate.miles} />
          <QuoteLine
            pricing={pricing}
            estimate={estimate}
            terms={terms}
            isCad={quote.currency === 'CAD'}
            onUse={onUse}
          />
          <TypedLine
            pricing={pricing}
            typed={typed}
            isCad={quote.currency === 'CAD'}
            miles={estimate.miles}
            notCompared={terms.notCompared}
          />
        </>
      ) : advice !== null ? (
        <>
          <CostPlus
            lane={terms.lane}
            isCad={quote.currency === 'CAD'}
            miles={estimate?.miles ?? null}
            own={terms.own}
            onUse={onUse}
          />
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
    </div>
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
  isCad,
  miles,
  own,
  onUse,
}: Pick<LinesProps, 'onUse'> &
  Pick<ComparedQuote, 'lane' | 'own'> & { isCad: boolean; miles: number | null }) {
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
        {isCad && <span>In US dollars:</span>}
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
        {cost === null && <span>Enter a cost: the desk adds your markup.</span>}
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
                {isCad && ' USD'}
                {miles === null ? '' : ` · ${ratePerMile(marked / miles)}`}
              </Button>
            )
          })}
        </Group>
      )}
    </>
  )
}

/** What to pay and what to quote, each with what it rests on below. */
function QuoteFigures({
  pricing: { quote, cost },
  terms,
  miles,
}: Pick<LinesProps, 'terms'> & { pricing: Pricing; miles: number | null }) {
  const { default_basis: assumed } = useSession().tenant
  const { rate, chance, interval80, margin, marginPct } = quote
  return (
    <dl className="desk-answer-figures">
      <Figure name="Buy" note={cost === null ? 'not known' : cost.isTyped ? 'your cost' : 'expected'}>
        {roundDollars(cost?.amount)}
      </Figure>
      <Figure name="Quote" note={terms.own(rate) === rate ? '' : `${basisWords[assumed]}, US dollars`} isMain>
        {dollars(rate)}
      </Figure>
      <Figure name="Chance" note={range(interval80)}>
        {probability(chance)}
      </Figure>
      <Figure name="Margin" note={percent(marginPct)}>
        <InRed when={margin !== null && margin < 0}>{roundDollars(margin)}</InRed>
      </Figure>
      <Figure name="Per mile" note={miles === null ? 'miles unknown' : `${count(miles)} mi`}>
        {miles === null ? '–' : ratePerMile(rate / miles)}
      </Figure>
    </dl>
  )
}

function Figure({
  name,
  note,
  isMain = false,
  children,
}: {
  name: string
  note: string
  isMain?: boolean
  children: ReactNode
}) {
  return (
    <div data-main={isMain || undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
      <dd>{note}</dd>
    </div>
  )
}

/** The confidence in the answer and where its rate comes from, with the button that uses the rate. */
function QuoteLine({
  pricing,
  estimate,
  terms,
  isCad,
  onUse,
}: Pick<LinesProps, 'terms' | 'onUse'> & { pricing: Pricing; estimate: Estimate; isCad: boolean }) {
  const { quote } = pricing
  const own = terms.own(quote.rate)
  const { trust, word } = trustInWords(estimate, quote.interval80, Date.now())
  return (
    <div className="desk-quote-line">
      <div>
        <Text size="sm" data-trust={trust}>
          Confidence: <b>{word.toLowerCase()}</b>
        </Text>
        <Text size="xs" c="dimmed" lineClamp={2} title={basisInWords(pricing)}>
          {basisInWords(pricing)}
        </Text>
      </div>
      <Button
        size="compact-sm"
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
        Use {dollarsIn(own ?? quote.rate, own !== null && isCad ? 'CAD' : null)}
      </Button>
    </div>
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
  isCad,
  miles,
  notCompared,
}: {
  pricing: Pricing
  typed: RateValue | null
  isCad: boolean
  miles: number | null
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
  const { rate, chance, margin, marginPct, beyond } = typed
  return (
    <Text size="sm" component="div" className="desk-typed-line" data-standing={standing}>
      <span aria-hidden>{standingMarks[standing]}</span> <b>Your {dollars(rate)}</b>
      {isCad && ' in US dollars'}
      {standing === 'same' ? null : (
        <>
          {': '}
          <span className="desk-figures">
            <span>
              {beyond === null ? '' : beyond === 'below' ? 'at least ' : 'at most '}
              <b>{probability(chance)}</b>
            </span>
            {margin !== null && (
              <span>
                <InRed when={margin < 0}>
                  <b>{roundDollars(margin)}</b> ({percent(marginPct)})
                </InRed>
              </span>
            )}
            {miles !== null && <span>{ratePerMile(rate / miles)}</span>}
          </span>
        </>
      )}
      {/* After figures, the words have a line of their own. */}
      {standing === 'same' ? (
        standingInWords(typed, pricing)
      ) : (
        <div>{standingInWords(typed, pricing).replace(/^[:,] /, '')}</div>
      )}
    </Text>
  )
}
