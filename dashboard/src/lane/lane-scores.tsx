import { Badge, SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { BUCKET_DAYS, BUCKETS_MAX } from '#engine/buckets.ts'
import { PAR_PRIOR, SCORE_RULE } from '#engine/scores.ts'
import { consistencyScale, SIGNAL_RULE } from '#engine/signals.ts'
import { SIGNAL_WORDS } from '#engine/summary.ts'
import { type Column, count, counted, DataTable } from '../shared-ui/index.ts'
import { type FoundInsight, type InsightEvidence, insightEvidence } from './lane-evidence.ts'
import { type SignalFormula, signalFormulas } from './lane-rules.ts'
import { QuotesLink } from './lane-section.tsx'

/** A score with two decimals and a typographic minus. @example figure(-1.2034) // '−1.20' */
function figure(value: number, digits = 2): string {
  const text = Math.abs(value).toFixed(digits)
  return value < 0 && Number(text) !== 0 ? `−${text}` : text
}

const summaryStyle = {
  cursor: 'pointer',
  padding: '0.35rem 0',
  fontSize: 'var(--mantine-font-size-sm)',
  color: 'var(--mantine-color-anchor)',
}

const titles = { strength: 'Strength', trend: 'Trend', consistency: 'Consistency', timing: 'Timing' } as const

/** The four signals with their scores. Formula and inputs are in a collapsed section. */
export function LaneScores({ insight }: { insight: FoundInsight }) {
  const evidence = insightEvidence(insight)
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="md">
        {signalFormulas.map((formula) => (
          <Signal key={formula.signal} formula={formula} insight={insight} evidence={evidence} />
        ))}
      </SimpleGrid>
      {evidence !== null && <Periods evidence={evidence} />}
    </>
  )
}

function Signal({
  formula,
  insight,
  evidence,
}: {
  formula: SignalFormula
  insight: FoundInsight
  evidence: InsightEvidence | null
}) {
  const word = insight.signals[formula.signal]
  const score = insight.scores[formula.score]
  const words: Readonly<Record<string, string | null>> = SIGNAL_WORDS[formula.signal]
  const summaryWords =
    insight.scope === 'tenant' && formula.signal === 'strength' ? null : (words[word] ?? null)
  return (
    <article aria-label={`${titles[formula.signal]}: ${word}`} style={{ minWidth: 0 }}>
      <Text size="xs" c="dimmed">
        {titles[formula.signal]}
      </Text>
      <Text fw={650} size="lg" tt="capitalize" lh={1.3}>
        {word}
      </Text>
      <Text size="sm">
        {formula.score} <strong>{figure(score)}</strong>
      </Text>
      <Text size="sm" c="dimmed">
        {formula.question}
      </Text>
      <details>
        <summary style={summaryStyle}>Formula of {formula.signal}</summary>
        <Text size="xs">{formula.scale}</Text>
        <FormulaLines lines={formula.formula} />
        {evidence !== null && <Inputs formula={formula} evidence={evidence} score={score} />}
        <Text size="xs" fw={600} mt={6}>
          The first matching rule applies
        </Text>
        <ul style={{ margin: 0, paddingLeft: '1rem', fontSize: 'var(--mantine-font-size-xs)' }}>
          {formula.words.map(([name, rule]) => (
            <li key={name} aria-current={name === word ? 'true' : undefined}>
              {name === word ? <strong>{name} (this lane)</strong> : name}: {rule}
            </li>
          ))}
        </ul>
        <Text size="xs" mt={6}>
          In the summary: {summaryWords === null ? 'not mentioned.' : `“${summaryWords}”.`}
        </Text>
      </details>
    </article>
  )
}

function FormulaLines({ lines }: { lines: readonly string[] }) {
  return (
    <div
      style={{
        fontFamily: 'ui-monospace, Menlo, Consolas, monospace',
        fontSize: 'var(--mantine-font-size-xs)',
        margin: '0.35rem 0',
        paddingLeft: '0.6rem',
        borderLeft: '3px solid var(--line)',
        overflowWrap: 'anywhere',
      }}
    >
      {lines.map((one) => (
        <div key={one}>{one}</div>
      ))}
    </div>
  )
}

/** The values of a formula's variables on this lane. */
function inputsOf(
  formula: SignalFormula,
  evidence: InsightEvidence,
): readonly (readonly [name: string, value: ReactNode])[] {
  const par = ['par, win rate of your other lanes', figure(evidence.par, 3)] as const
  const rate = ['rate, recent win rate of this lane', figure(evidence.rate, 3)] as const
  const periods = ['n, periods', count(evidence.bucket_count)] as const
  const decidedPeriods = ['m, periods with a decided quote', count(evidence.decided_buckets)] as const
  const decided = [
    'D, decided quotes in the periods',
    <RecentQuotes key="decided">{count(evidence.decided)}</RecentQuotes>,
  ] as const
  switch (formula.signal) {
    case 'strength': {
      const rule = SIGNAL_RULE.strength
      return [
        par,
        rate,
        [
          'rate threshold for strong, for weak',
          `${figure(evidence.par + rule.rateAbovePar * (1 - evidence.par), 3)}, ${figure(evidence.par - rule.rateBelowPar, 3)}`,
        ],
        decided,
      ]
    }
    case 'trend':
      return [rate, periods, decided]
    case 'consistency': {
      const scale = consistencyScale(evidence.par)
      return [
        par,
        rate,
        ['s', figure(scale, 3)],
        [
          'threshold of reliable, of erratic',
          `${figure(SIGNAL_RULE.consistency.reliable * scale, 3)}, ${figure(SIGNAL_RULE.consistency.erratic * scale, 3)}`,
        ],
        periods,
        decidedPeriods,
        decided,
      ]
    }
    case 'timing':
      return [
        ['Σ aa, spread between busy and quiet periods', figure(evidence.busyness_spread, 3)],
        periods,
        decided,
      ]
  }
}

function RecentQuotes({ children }: { children: ReactNode }) {
  return <QuotesLink chosen={{ days: String(BUCKET_DAYS * BUCKETS_MAX) }}>{children}</QuotesLink>
}

function Inputs({
  formula,
  evidence,
  score,
}: {
  formula: SignalFormula
  evidence: InsightEvidence
  score: number
}) {
  return (
    <dl style={{ margin: 0, fontSize: 'var(--mantine-font-size-xs)' }}>
      {inputsOf(formula, evidence).map(([name, value]) => (
        <div key={name} style={{ display: 'flex', justifyContent: 'space-between', gap: '0.75rem' }}>
          <dt>{name}</dt>
          <dd style={{ margin: 0, fontWeight: 600, textAlign: 'right' }}>{value}</dd>
        </div>
      ))}
      <div style={{ display: 'flex', justifyContent: 'space-between', gap: '0.75rem' }}>
        <dt>{formula.score}</dt>
        <dd style={{ margin: 0, fontWeight: 600 }}>{figure(score, 4)}</dd>
      </div>
    </dl>
  )
}

interface Period {
  readonly age: number
  readonly quotes: number
  readonly wins: number
  readonly losses: number
  readonly weight: number
  readonly beyondPar: number
}

function periodsOf({ buckets, par }: InsightEvidence): Period[] {
  return buckets
    .map(({ quotes, wins, losses }, at) => {
      const age = buckets.length - 1 - at
      const weight = 2 ** (-age / SCORE_RULE.halfLifeBuckets)
      return { age, quotes, wins, losses, weight, beyondPar: weight * (wins - par * (wins + losses)) }
    })
    .reverse()
}

const periodColumns: readonly Column<Period>[] = [
  {
    key: 'age',
    header: 'Days ago',
    cell: ({ age }) => `${age * BUCKET_DAYS} to ${(age + 1) * BUCKET_DAYS}`,
  },
  { key: 'quotes', header: 'q, quotes', align: 'right', cell: ({ quotes }) => count(quotes) },
  { key: 'wins', header: 'w, won', align: 'right', cell: ({ wins }) => count(wins) },
  { key: 'losses', header: 'l, lost', align: 'right', cell: ({ losses }) => count(losses) },
  { key: 'weight', header: 'f, weight', align: 'right', cell: ({ weight }) => figure(weight, 3) },
  { key: 'beyond', header: 'f (w − par · d)', align: 'right', cell: ({ beyondPar }) => figure(beyondPar, 3) },
]

/** The counts by period, from which all four scores are computed. */
function Periods({ evidence }: { evidence: InsightEvidence }) {
  const { older_quotes, future_quotes } = evidence
  return (
    <details style={{ marginTop: '0.75rem' }}>
      <summary style={summaryStyle}>
        The {counted(evidence.bucket_count, 'period')} of {BUCKET_DAYS} days behind all four scores
      </summary>
      <Text size="xs" my={4}>
        Up to {BUCKETS_MAX} consecutive periods that end now. d = w + l. The age of the last period is 0. The
        weight of a period is f = 2^(−age / {SCORE_RULE.halfLifeBuckets}). par = (wins of your other lanes +{' '}
        {PAR_PRIOR.wins}) / (their decided quotes + {PAR_PRIOR.decided}), without the lanes of this scope.
        {older_quotes > 0 &&
          ` ${counted(older_quotes, 'older quote')} in the history ${older_quotes === 1 ? 'is' : 'are'} too old for the scores.`}
        {future_quotes > 0 &&
          ` ${counted(future_quotes, 'quote')} dated in the future ${future_quotes === 1 ? 'is' : 'are'} not counted.`}
      </Text>
      <DataTable
        caption="Periods behind the scores, newest first"
        columns={periodColumns}
        rows={periodsOf(evidence)}
        rowKey={({ age }) => String(age)}
      />
    </details>
  )
}

/** The scope of a lane's insight, as a badge. */
export function ScopeBadge({ name }: { name: string }) {
  return (
    <Badge variant="default" size="sm" tt="none">
      {name}
    </Badge>
  )
}
