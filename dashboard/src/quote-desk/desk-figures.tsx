import { IconAlertTriangle } from 'virtual:tabler-icons'
import { Anchor, Button, Paper, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Answer } from '../api/index.ts'
import {
  basedOn,
  counted,
  dollars,
  Margin,
  MarginPct,
  probability,
  range,
  ratePerMile,
  roundDollars,
  signedPercent,
} from '../shared-ui/index.ts'
import { borrowedInWords, countInWords, countsOf } from './desk-words.ts'

type Advice = Answer<'quote-advice'>

export interface FiguresProps {
  readonly advice: Advice | null
  /** The rate of the advice; null while no rate is typed. */
  readonly rate: number | null
  /** The truck cost typed by the rep; null to use the service's expected cost. */
  readonly typedCost: number | null
  /** The lowest rate that the brokerage's floors allow; null without a floor. */
  readonly floor: number | null
  readonly onUse: (rate: number) => void
}

/** Three cards: the chance of winning, the rates of the lane, and the margin. */
export function Figures(props: FiguresProps) {
  return (
    <div className="desk-cards">
      <Chance {...props} />
      <Rates {...props} />
      <Money {...props} />
    </div>
  )
}

function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="sm">
      <Title order={3} size="h6" mb={4}>
        {title}
      </Title>
      <div className="desk-number">{children}</div>
    </Paper>
  )
}

const confidenceWords: Readonly<Record<Advice['confidence'], string>> = {
  high: 'High',
  medium: 'Medium',
  low: 'Low',
  none: 'None',
}

function Chance({ advice, rate }: FiguresProps) {
  const estimate = advice?.estimate
  const known = rate !== null && estimate?.probability != null && estimate.interval_80 !== null
  const counts = advice === null ? null : countsOf(advice)
  const borrowed = estimate === undefined || !known ? null : borrowedInWords(estimate)
  const won = advice?.found === true && rate !== null ? advice.win_probability : null
  return (
    <Card title={rate === null ? 'Chance of winning' : `Chance of winning at ${dollars(rate)}`}>
      <div style={{ display: 'flex', alignItems: 'baseline', gap: '0.6rem', minHeight: '2.6rem' }}>
        <Text span fw={700} style={{ fontSize: '2rem', lineHeight: 1.2 }}>
          {known ? probability(estimate.probability) : '–'}
        </Text>
        <Text span size="sm">
          {known && estimate.interval_80 !== null ? `80% range ${range(estimate.interval_80)}` : ''}
        </Text>
      </div>
      <Text size="sm" mih={44}>
        {known
          ? `Estimate: ${basedOn(estimate)}.`
          : rate === null && advice !== null
            ? 'Type a rate to see its chance of winning, or use one of the rates on the right.'
            : ''}
      </Text>
      <Text size="xs" c="dimmed" mih={54}>
        {borrowed === null ? '' : `${borrowed}.`}
      </Text>
      <Text size="sm" mih={44} mt={6}>
        Past win rate:{' '}
        {won === null || counts === null ? (
          advice?.found === false ? (
            'no quotes on this lane'
          ) : (
            '–'
          )
        ) : (
          <>
            <strong>{probability(won)}</strong> · {countInWords(counts, won)}
          </>
        )}
      </Text>
      <Text size="sm" mih={22}>
        Confidence:{' '}
        {advice === null
          ? '–'
          : `${confidenceWords[advice.confidence]} · ${counted(counts?.decided ?? 0, 'decided quote')}`}
      </Text>
    </Card>
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

function Use({ rate, what, onUse }: { rate: number | null; what: string; onUse: (rate: number) => void }) {
  return (
    <Button
      size="compact-xs"
      mih={24}
      variant="light"
      disabled={rate === null}
      aria-label={rate === null ? `Use the ${what}` : `Use ${dollars(rate)}, the ${what}`}
      onClick={() => rate !== null && onUse(rate)}
    >
      Use
    </Button>
  )
}

/** A rate in whole dollars, as reps quote. */
function quotable(rate: number | null | undefined): number | null {
  return rate === null || rate === undefined ? null : Math.round(rate)
}

function Rates({ advice, rate, onUse }: FiguresProps) {
  const suggested = advice?.found === true ? quotable(advice.suggested_rate) : null
  const optimum = advice?.optimum ?? null
  const best = quotable(optimum?.rate)
  const floored =
    optimum?.floor != null && optimum.floored_rate > optimum.rate ? Math.ceil(optimum.floored_rate) : null
  const band = advice?.found === true ? advice.rate_band : null
  const reference = quotable(advice?.estimate?.reference_rate)
  return (
    <Card title="Rates for this lane">
      <dl className="desk-facts">
        <Fact name="Suggested" action={<Use rate={suggested} what="suggested rate" onUse={onUse} />}>
          <strong>{dollars(suggested)}</strong>
        </Fact>
        <Fact
          name="Best expected margin"
          action={<Use rate={floored ?? best} what="rate with the best expected margin" onUse={onUse} />}
        >
          <strong>{roundDollars(floored ?? best)}</strong>
        </Fact>
        <Fact name="Nearly as good">
          {optimum === null
            ? '–'
            : `${roundDollars(optimum.flat_zone.low)} to ${roundDollars(optimum.flat_zone.high)}`}
        </Fact>
        <Fact name="Going rate" action={<Use rate={reference} what="going rate" onUse={onUse} />}>
          {roundDollars(reference)}
        </Fact>
        <Fact name="Band">
          {band === null || band.floor === null
            ? '–'
            : `${roundDollars(band.floor)} to ${roundDollars(band.ceiling)}`}
        </Fact>
        <Fact name="Median">{roundDollars(band?.median)}</Fact>
        <Fact name="vs reference">
          {rate !== null && advice?.found === true && advice.markup_pct !== null
            ? signedPercent(advice.markup_pct)
            : '–'}
        </Fact>
      </dl>
    </Card>
  )
}

function Money({ advice, rate, typedCost, floor }: FiguresProps) {
  const { miles = null, expected_cost: expected = null, expected_margin = null } = advice?.estimate ?? {}
  const cost = typedCost ?? expected?.amount ?? null
  const margin = rate === null || cost === null ? null : Math.round((rate - cost) * 100) / 100
  const below = rate !== null && floor !== null && rate < floor
  return (
    <Card title={rate === null ? 'Margin' : `Margin at ${dollars(rate)}`}>
      <dl className="desk-facts">
        <Fact name="Miles">
          {miles === null
            ? '–'
            : `${Math.round(miles).toLocaleString('en-US')} mi${rate === null ? '' : ` · ${ratePerMile(rate / miles)}`}`}
        </Fact>
        <Fact name="Expected cost">{roundDollars(expected?.amount)}</Fact>
        <Fact name="80% cost range">
          {expected === null ? '–' : `${roundDollars(expected.low)} to ${roundDollars(expected.high)}`}
        </Fact>
        <Fact name={typedCost === null ? 'Margin' : 'Margin over your cost'}>
          {margin === null || rate === null ? (
            '–'
          ) : (
            <>
              <strong>
                <Margin amount={margin} isRounded />
              </strong>
              <span style={{ marginLeft: '0.4rem' }}>
                <MarginPct share={(margin / rate) * 100} />
              </span>
            </>
          )}
        </Fact>
        <Fact name="Expected margin">
          {rate === null ? '–' : <Margin amount={expected_margin} isRounded />}
        </Fact>
        <Fact name="Left on the table">
          {rate === null || !advice?.optimum ? '–' : roundDollars(advice.optimum.at_stake)}
        </Fact>
        <Fact name="Your floor">
          {below && (
            <Text span size="sm" fw={600} style={{ color: 'var(--lost)', marginRight: '0.4rem' }}>
              <IconAlertTriangle size={14} aria-hidden style={{ verticalAlign: '-2px' }} /> below
            </Text>
          )}
          {floor === null ? '–' : dollars(Math.ceil(floor))}
        </Fact>
      </dl>
      <Text size="xs" c="dimmed" mih={18}>
        {expected !== null && typedCost === null
          ? `Cost based on ${expected.own_loads === 0 ? 'your loads on other lanes' : counted(expected.own_loads, 'load on this lane', 'loads on this lane')}.`
          : ''}{' '}
        {below ? (
          <Anchor href="/settings" underline="always">
            Floors
          </Anchor>
        ) : (
          ''
        )}
      </Text>
    </Card>
  )
}
