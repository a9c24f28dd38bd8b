import { Badge, Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useAnswer, useChange, useMay } from '../api/index.ts'
import { ConfirmChange, Failed, Loading } from '../shared-ui/index.ts'
import { RuleForm } from './rules-form.tsx'
import { type Rule, termsWords } from './rules-words.ts'

/** The rules, and the form for a new or an edited one. */
export function RulesList() {
  const { data, error, refetch } = useAnswer('list-pricing-rules', {})
  const mayChange = useMay('admin')
  const [edited, setEdited] = useState<Rule | 'new' | null>(null)
  if (error !== null) {
    return <Failed error={error} title="The rules could not be loaded" retry={() => void refetch()} />
  }
  const rules = data?.rules ?? []
  return (
    <Stack gap="sm" mt="sm">
      {mayChange && edited === null && (
        <Button style={{ alignSelf: 'flex-start' }} onClick={() => setEdited('new')}>
          Add a rule
        </Button>
      )}
      {edited !== null && (
        <RuleForm
          key={edited === 'new' ? 'new' : edited.rule_id}
          rule={edited === 'new' ? null : edited}
          onDone={() => setEdited(null)}
        />
      )}
      {data === undefined && <Loading rows={3} height={64} label="Loading the rules" />}
      {data !== undefined && rules.length === 0 && (
        <Text size="sm">
          No rules yet. Without rules, every rate can be quoted; the desk still warns about rates below cost.
        </Text>
      )}
      {rules.map((rule) => (
        <RuleCard key={rule.rule_id} rule={rule} mayChange={mayChange} onEdit={() => setEdited(rule)} />
      ))}
    </Stack>
  )
}

/** Whether a rule has no condition. The page Company edits the minimums of this rule. */
const isForAllQuotes = ({ conditions }: Rule) =>
  Object.values(conditions).every((condition) => condition === null || condition === undefined)

function RuleCard({ rule, mayChange, onEdit }: { rule: Rule; mayChange: boolean; onEdit: () => void }) {
  const [isAsked, setAsked] = useState(false)
  const remove = useChange('remove-pricing-rule')
  return (
    <Paper withBorder p="sm" component="section" aria-label={`Rule ${rule.rule_id}`}>
      <Group justify="space-between" gap="xs" align="flex-start">
        <div style={{ minWidth: 0, flex: '1 1 16rem', overflowWrap: 'anywhere' }}>
          <Text fw={600}>
            {rule.rule_id}. {rule.because} {!rule.on && <Badge variant="default">off</Badge>}
          </Text>
          <Text size="sm">{termsWords(rule.terms)}</Text>
        </div>
        {mayChange && (
          <Group gap="xs">
            <Button variant="default" size="compact-sm" onClick={onEdit}>
              Edit
            </Button>
            <Button variant="default" size="compact-sm" onClick={() => setAsked(true)}>
              Remove
            </Button>
          </Group>
        )}
      </Group>
      <ConfirmChange
        call={remove}
        sent={isAsked ? { params: { rule_id: rule.rule_id } } : null}
        said={() => `Rule ${rule.rule_id} removed.`}
        close={() => setAsked(false)}
        title={`Remove rule ${rule.rule_id}?`}
        action="Remove it"
      >
        <Text size="sm">
          It no longer applies to new quotes. Quotes that exist do not change.
          {isForAllQuotes(rule) &&
            ' Its minimums are those on the page Company, which become empty. Then “Quoted too low” on the page Results counts only rates below the expected cost.'}
        </Text>
      </ConfirmChange>
    </Paper>
  )
}
