import { Paper, Text, Title } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { scaleLinear } from 'd3-scale'
import { Axes, dollars, InRed, roundDollars } from '../shared-ui/index.ts'
import type { DeskAnswer } from './desk-answer.ts'
import type { Pricing } from './desk-pricing.ts'
import { chanceInWords, type RiskAtRate, riskAt } from './desk-risk.ts'

const height = 88
const axis = 22
/** Room for half of the first and the last label. */
const margin = 24

/** The possible margins in one small chart, at the typed rate or else the rate to quote. */
export function MarginAtRisk({
  answer: { advice, rate },
  pricing,
}: {
  answer: DeskAnswer
  pricing: Pricing | null
}) {
  const shown = rate ?? pricing?.quote.rate ?? null
  if (advice === null || pricing === null || shown === null) return null
  const risk = riskAt(advice.risk, {
    rate: shown,
    typedCost: pricing.cost?.isTyped ? pricing.cost.amount : null,
  })
  if (risk === null) return null
  return (
    <Paper withBorder p="sm" component="section" aria-label="Margin at risk">
      <Title order={3} size="h6">
        Margin at risk at {dollars(shown)}
      </Title>
      <Text size="sm">
        <InRed when={risk.lossChance > 0.1}>
          Chance of losing money: <b>{chanceInWords(risk)}</b>
        </InRed>
        {'. '}80% of margins are between <b>{roundDollars(risk.low)}</b> and <b>{roundDollars(risk.high)}</b>.
        Below {roundDollars(Math.ceil(risk.safeRate))}, more than one in ten such loads loses money.
      </Text>
      <Bars risk={risk} />
      <Text size="xs" c="dimmed">
        {pricing.cost?.isTyped ? 'If your cost is the usual cost of such a truck. ' : ''}
        The spread comes from how far your past truck costs were from the expected ones.
      </Text>
    </Paper>
  )
}

function Bars({ risk }: { risk: RiskAtRate }) {
  const { ref, width } = useElementSize()
  const [first, last] = [risk.bars[0], risk.bars.at(-1)]
  const most = Math.max(...risk.bars.map(({ share }) => share))
  if (first === undefined || last === undefined || most === 0) return null
  const x = scaleLinear(
    [Math.min(first.from, 0), Math.max(last.to, 0)],
    [margin, Math.max(margin, width - margin)],
  )
  const y = scaleLinear([0, most], [height - axis, 6])
  return (
    <div ref={ref} style={{ height }}>
      {width > 120 && (
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={`Margins from ${roundDollars(first.from)} to ${roundDollars(last.to)}; most often about ${roundDollars(risk.median)}`}
          style={{ display: 'block' }}
        >
          {risk.bars.map(({ from, to, share }) => (
            <rect
              key={from}
              x={x(from) + 0.5}
              y={y(share)}
              width={Math.max(1, x(to) - x(from) - 1)}
              height={y(0) - y(share)}
              fill={from + to < 0 ? 'var(--lost)' : 'var(--chart-accent)'}
            />
          ))}
          <line x1={x(0)} x2={x(0)} y1={0} y2={y(0)} stroke="var(--chart-ink)" strokeDasharray="3 3" />
          <Axes x={x} y={y} across={(at) => [roundDollars(at)]} />
        </svg>
      )}
    </div>
  )
}
