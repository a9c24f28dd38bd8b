import { Badge, Button, Group, Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Answer, CallFailed } from '../api/index.ts'
import { dollars, Failed, InRed, percent, probability, range, roundDollars } from '../shared-ui/index.ts'
import type { Choice } from './counter-choices.ts'

interface CardProps {
  readonly title: string
  /** Null until a rate was named and the advice has arrived. */
  readonly choice: Choice | null
  readonly isBest: boolean
  readonly isPending: boolean
  /** Whether the button is off: no rate was named, or another choice is being saved. */
  readonly isOff: boolean
  /** Why the rate is outside the pricing rules; empty if it is within them. */
  readonly rules: Answer<'counter-advice'>['accept']['outside_rules']
  readonly error: CallFailed | null
  readonly needsApproval: boolean
  readonly action: string
  /** Words in place of the chance, such as "they named it". */
  readonly chanceWords?: string
  readonly onKeep: () => void
  readonly onAsk: () => void
  /** The rate, its field, or the reason for a loss. */
  readonly children: ReactNode
}

/** One choice: its rate, its chance, its margin, what it earns on average, and a button that keeps it. */
export function ChoiceCard(props: CardProps) {
  const { title, choice, isBest, isOff, rules, error, needsApproval, action, children } = props
  const isBlocked = rules.some(({ code }) => code === 'blocked')
  return (
    <Paper withBorder p="sm" component="section" aria-label={title}>
      <Stack gap="xs" h="100%">
        <Group justify="space-between" gap={4} mih={22}>
          <Text fw={600}>{title}</Text>
          {isBest && <Badge variant="light">earns most</Badge>}
        </Group>
        <div style={{ minHeight: 44 }}>{children}</div>
        <Figures choice={choice} chanceWords={props.chanceWords} />
        {rules.map(({ detail }) => (
          <Text key={detail} size="xs" className="counter-flag">
            {detail}
          </Text>
        ))}
        {error !== null && error.code !== 'outside-rules' && <Failed error={error} title="Not saved" />}
        {error?.code === 'outside-rules' && rules.length === 0 && (
          <Text size="xs" role="alert">
            {error.message}
          </Text>
        )}
        <Button
          mt="auto"
          variant={isBest ? 'filled' : 'default'}
          disabled={isOff || isBlocked}
          loading={props.isPending}
          onClick={needsApproval ? props.onAsk : props.onKeep}
        >
          {isBlocked ? 'Not allowed' : needsApproval ? 'Ask for approval' : action}
        </Button>
      </Stack>
    </Paper>
  )
}

function Figures({ choice, chanceWords }: { choice: Choice | null; chanceWords: string | undefined }) {
  const { chance = null, interval80 = null, margin = null, marginPct = null, worth = null } = choice ?? {}
  return (
    <dl className="counter-figures">
      <dt>Chance</dt>
      <dd>
        {chanceWords !== undefined && choice !== null ? (
          chanceWords
        ) : (
          <>
            <b>{probability(chance)}</b>
            {interval80 === null ? '' : ` (${range(interval80)})`}
          </>
        )}
      </dd>
      <dt>Margin</dt>
      <dd>
        <InRed when={margin !== null && margin < 0}>
          <b>{dollars(margin)}</b>
          {marginPct === null ? '' : ` (${percent(marginPct)})`}
        </InRed>
      </dd>
      <dt>Expected</dt>
      <dd>
        <InRed when={worth !== null && worth < 0}>
          <b>{roundDollars(worth)}</b>
        </InRed>
      </dd>
    </dl>
  )
}
