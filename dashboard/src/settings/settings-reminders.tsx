import { Button, Group, Stack, TextInput } from '@mantine/core'
import { type Answer, useChange } from '../api/index.ts'
import { sentNumber, useSentForm } from '../shared-ui/index.ts'

type Limits = Answer<'me'>['tenant']['reminders']
type Field = keyof Limits

const labels: readonly (readonly [field: Field, label: string])[] = [
  ['escalate_after_minutes', 'Tell owners of an undecided request after, minutes'],
  ['follow_up_after_hours', 'Follow up a quote after, hours'],
  ['follow_up_before_end_minutes', 'Follow up a quote before its end, minutes'],
]

/** When people of the brokerage are reminded. */
export function Reminders({ reminders, mayChange }: { reminders: Limits; mayChange: boolean }) {
  const { submit, input, pending, failure } = useSentForm(useChange('update-tenant'), {
    fields: Object.fromEntries(labels.map(([field]) => [field, reminders[field]?.toString() ?? ''])),
    pointers: Object.fromEntries(labels.map(([field]) => [field, `/reminders/${field}`])),
    send: (typed) => ({
      body: {
        reminders: Object.fromEntries(labels.map(([field]) => [field, sentNumber(typed[field] || '0')])),
      },
    }),
    said: 'Settings saved.',
  })
  return (
    <form onSubmit={submit}>
      <Stack maw={720}>
        <Group align="flex-start" grow preventGrowOverflow={false}>
          {labels.map(([field, label]) => (
            <TextInput
              key={field}
              label={label}
              inputMode="numeric"
              disabled={!mayChange}
              {...input(field)}
            />
          ))}
        </Group>
        {failure('Settings not saved')}
        {mayChange && (
          <Button type="submit" loading={pending} style={{ alignSelf: 'flex-start' }}>
            Save the reminders
          </Button>
        )}
      </Stack>
    </form>
  )
}
