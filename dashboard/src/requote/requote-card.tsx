import { Badge, Button, Group, Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { CallFailed } from '../api/index.ts'
import { dollarsIn, Failed, InRed, percent, probability, range } from '../shared-ui/index.ts'
import { type Choice, isBlocked } from './requote-choices.ts'

/** Whether a rate is outside the rules but can be approved. */
export function needsApproval({ rules }: Pick<Choice, 'rules'>): boolean {
  return rules.length > 0 && !isBlocked({ rules })
}

interface CardProps {
  readonly title: string
  /** Null while there is no rate. */
  readonly choice: Choice | null
  /** The currency of its amounts; null for US dollars. */
  readonly currency: string | null
  readonly isBest: boolean
  readonly isPending: boolean
  /** Whether the button is off: there is no rate, or another choice is being saved. */
  readonly isOff: boolean
  /** Why the choice was not saved. A refusal by the rules is in its `rules`. */
  readonly error: CallFailed | null
  /** The reasons to check the rate before the next press saves it. */
  readonly toConfirm: readonly string[]
  readonly action: string
  /** Words in place of the chance, such as "they named it". */
  readonly chanceWords?: string
  /** The action of the button. Absent: it submits the form. */
  readonly onKeep?: () => void
  /** The rate, or the reason for a loss. */
  readonly children: ReactNode
}

/** One choice: its rate, chance, margin and worth, and a button that saves it. */
export function ChoiceCard({ title, choice, isBest, isOff, error, toConfirm, action, ...props }: CardProps) {
  const rules = choice?.rules ?? []
  return (
    <Paper withBorder p="sm" component="section" aria-label={title}>
      <Stack gap="xs" h="100%">
        <Group justify="space-between" gap={4} mih={22}>
          <Text fw={600}>{title}</Text>
          {isBest && <Badge variant="light">earns most</Badge>}
        </Group>
        <div style={{ minHeight: 44 }}>{props.children}</div>
        <Figures choice={choice} currency={props.currency} chanceWords={props.chanceWords} />
        {rules.map(({ detail }) => (
          <Text key={detail} size="xs" className="requote-flag" role="alert">
            {detail}
          </Text>
        ))}
        {error !== null && error.code !== 'outside-rules' && <Failed error={error} title="Not saved" />}
        {toConfirm.length > 0 && (
          <Text size="sm" className="requote-flag" role="alert">
            Is this rate right? {toConfirm.join(' ')}
          </Text>
        )}
        <Button
          mt="auto"
          // A rate in Canadian dollars needs the room.
          px="xs"
          variant={isBest ? 'filled' : 'default'}
          disabled={isOff || isBlocked({ rules })}
          loading={props.isPending}
          {...(props.onKeep === undefined ? { type: 'submit' as const } : { onClick: props.onKeep })}
        >
          {isBlocked({ rules })
            ? 'Not allowed'
            : needsApproval({ rules })
              ? 'Ask for approval'
              : toConfirm.length > 0
                ? `${action} as typed`
                : action}
        </Button>
      </Stack>
    </Paper>
  )
}

function Figures({
  choice,
  currency,
  chanceWords,
}: Pick<CardProps, 'choice' | 'currency'> & { chanceWords: string | undefined }) {
  const { chance = null, interval80 = null, margin = null, marginPct = null, worth = null } = choice ?? {}
  return (
    <dl className="requote-figures">
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
          <b>{dollarsIn(margin, currency)}</b>
          {marginPct === null ? '' : ` (${percent(marginPct)})`}
        </InRed>
      </dd>
      <dt>Expected</dt>
      <dd>
        <InRed when={worth !== null && worth < 0}>
          <b>{dollarsIn(worth === null ? null : Math.round(worth), currency)}</b>
        </InRed>
      </dd>
    </dl>
  )
}
