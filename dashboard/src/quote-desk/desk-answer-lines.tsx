import { Button, Group, Kbd, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { pagePaths } from '#contract/pages.ts'
import {
  ButtonLink,
  count,
  dollars,
  groundMissing,
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
import type { ComparedLane } from './desk-terms.ts'
import { basisInWords, standingInWords } from './desk-words.ts'

interface LinesProps {
  readonly answer: DeskAnswer
  readonly pricing: Pricing | null
  readonly typed: RateValue | null
  readonly terms: ComparedLane
  readonly onUse: (rate: number) => void
}

/**
 * The answer for a lane: what to pay and what to quote, with chance, margin and rate per mile, and then the typed rate. The frame
 * keeps its size while data loads.
 */
export function AnswerLines({ answer, pricing, typed, terms, onUse }: LinesProps) {
  const { advice, asking, failure } = answer
  const miles = advice?.estimate?.miles ?? null
  return (
    <div className="desk-answer" data-framed={advice === null || pricing !== null || undefined}>
      {pricing !== null ? (
        <>
          <QuoteFigures pricing={pricing} miles={miles} isCad={terms.isCad} />
          <QuoteLine pricing={pricing} terms={terms} onUse={onUse} />
          <TypedLine pricing={pricing} typed={typed} miles={miles} notCompared={terms.notCompared} />
          {terms.converted !== null && (
            <Text size="xs" c="dimmed">
              {terms.converted}
            </Text>
          )}
        </>
      ) : advice !== null ? (
        <>
          <CostPlus lane={terms.lane} miles={miles} own={terms.own} onUse={onUse} />
          {advice.estimate?.flags.includes('no_ground') === true ? (
            <Text size="sm" mih={44}>
              {answer.unknown !== null && `Not enough to go on: ${groundMissing(answer.unknown)}.`}
            </Text>
          ) : (
            <Group justify="space-between" gap="sm">
              <Text size="sm">
                There is no advice yet, because your brokerage has no answered quotes to learn from.
              </Text>
              <ButtonLink to={pagePaths.imports} size="sm">
                Import past quotes
              </ButtonLink>
            </Group>
          )}
        </>
      ) : (
        <Text size="sm" c="dimmed">
          {!asking
            ? 'Enter an origin and a destination. The rate to quote then appears here.'
            : failure === null
              ? 'Loading the advice…'
              : 'The advice appears here when the service answers.'}
        </Text>
      )}
    </div>
  )
}

/** Markups that are usual in brokerage, in percent of the cost. */
const markups = [10, 15, 20] as const

/**
 * Arithmetic without any history: the miles, the dollars per mile and the margin of the typed rate, and the cost with usual
 * markups.
 */
function CostPlus({
  lane,
  miles,
  own,
  onUse,
}: Pick<LinesProps, 'onUse'> & Pick<ComparedLane, 'lane' | 'own'> & { miles: number | null }) {
  const [rate, cost] = [readDollars(lane.rate), readDollars(lane.cost)]
  const margin = rate === null || cost === null ? null : Math.round((rate - cost) * 100) / 100
  return (
    <>
      <Text
        size="sm"
        component="div"
        className="desk-figures"
        aria-label="Arithmetic of the lane"
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
  miles,
  isCad,
}: {
  pricing: Pricing
  miles: number | null
  isCad: boolean
}) {
  const { rate, chance, interval80, margin, marginPct } = quote
  return (
    <dl className="desk-answer-figures">
      <AnswerFigure name="Buy" note={cost === null ? 'not known' : cost.isTyped ? 'your cost' : 'expected'}>
        {roundDollars(cost?.amount)}
      </AnswerFigure>
      <AnswerFigure name="Quote" note={isCad ? 'US dollars' : ''} isMain>
        {dollars(rate)}
      </AnswerFigure>
      <AnswerFigure name="Chance" note={range(interval80)}>
        {probability(chance)}
      </AnswerFigure>
      <AnswerFigure name="Margin" note={percent(marginPct)}>
        <InRed when={margin !== null && margin < 0}>{roundDollars(margin)}</InRed>
      </AnswerFigure>
      <AnswerFigure name="Per mile" note={miles === null ? 'miles unknown' : `${count(miles)} mi`}>
        {miles === null ? '–' : ratePerMile(rate / miles)}
      </AnswerFigure>
    </dl>
  )
}

function AnswerFigure({
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

function QuoteLine({ pricing, terms, onUse }: Pick<LinesProps, 'terms' | 'onUse'> & { pricing: Pricing }) {
  const { quote } = pricing
  const own = terms.own(quote.rate)
  return (
    <div className="desk-quote-line">
      <Text size="xs" c="dimmed" lineClamp={2} title={basisInWords(pricing)}>
        {basisInWords(pricing)}
      </Text>
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
        Use {dollars(own ?? quote.rate)}
        {own !== null && terms.isCad && ' CAD'}
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
  miles,
  notCompared,
}: {
  pricing: Pricing
  typed: RateValue | null
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
      {/* A mark at the start of a line would stand alone: after figures, the words have a line of their own. */}
      {standing === 'same' ? (
        standingInWords(typed, pricing)
      ) : (
        <div>{standingInWords(typed, pricing).replace(/^[:,] /, '')}</div>
      )}
    </Text>
  )
}
