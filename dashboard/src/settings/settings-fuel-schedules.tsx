import { Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useChange } from '../api/index.ts'
import { ConfirmChange, calendarDay, DataTable, Section } from '../shared-ui/index.ts'
import { ScheduleForm } from './settings-fuel-form.tsx'
import { type FuelSchedule, ruleInWords } from './settings-fuel-words.ts'

const ownerOf = (schedule: FuelSchedule) => schedule.customer_name ?? 'Your brokerage'

/** The schedules of the brokerage and of its customers; admins change, add and remove them. */
export function FuelSchedules({
  schedules,
  mayChange,
}: {
  schedules: readonly FuelSchedule[]
  mayChange: boolean
}) {
  const [adds, setAdds] = useState<'brokerage' | 'customer' | null>(null)
  const hasOwn = schedules.some(({ customer_name }) => customer_name === null)
  return (
    <Section
      title="Surcharge schedules"
      hint="On the days that it covers, the schedule of a customer applies instead of that of your brokerage."
    >
      {!hasOwn && <Text size="sm">Your brokerage has no schedule.</Text>}
      {schedules.map((schedule) => (
        <Schedule key={schedule.customer_name ?? ''} schedule={schedule} mayChange={mayChange} />
      ))}
      {adds !== null && (
        <ScheduleForm
          key={adds}
          owner={adds === 'brokerage' ? { kind: 'brokerage' } : { kind: 'new customer' }}
          periods={[]}
          close={() => setAdds(null)}
        />
      )}
      {mayChange && adds === null && (
        <Group>
          {!hasOwn && <Button onClick={() => setAdds('brokerage')}>Add your schedule</Button>}
          <Button variant="default" onClick={() => setAdds('customer')}>
            Add a customer&apos;s schedule
          </Button>
        </Group>
      )}
    </Section>
  )
}

function Schedule({ schedule, mayChange }: { schedule: FuelSchedule; mayChange: boolean }) {
  const [edits, setEdits] = useState(false)
  const { customer_name: customer, periods } = schedule
  const owner = ownerOf(schedule)
  if (edits) {
    return (
      <ScheduleForm
        owner={customer === null ? { kind: 'brokerage' } : { kind: 'customer', name: customer }}
        periods={periods}
        close={() => setEdits(false)}
      />
    )
  }
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={3} size="h5" style={{ overflowWrap: 'anywhere' }}>
            {owner}
          </Title>
          {mayChange && (
            <Group gap="xs">
              <Button
                size="xs"
                variant="default"
                aria-label={`Edit the schedule of ${owner}`}
                onClick={() => setEdits(true)}
              >
                Edit
              </Button>
              <RemoveSchedule schedule={schedule} />
            </Group>
          )}
        </Group>
        <DataTable
          caption={`Surcharge schedule of ${owner}`}
          columns={[
            {
              key: 'days',
              header: 'Days',
              wraps: true,
              cell: ({ from, until }) =>
                until === null
                  ? `From ${calendarDay(from)}`
                  : `${calendarDay(from)} to ${calendarDay(until)}`,
            },
            { key: 'rule', header: 'Surcharge per mile', wraps: true, cell: ruleInWords },
            {
              key: 'state',
              header: 'Today',
              cell: ({ in_force }) =>
                in_force && (
                  <Badge variant="default" tt="none">
                    In force
                  </Badge>
                ),
            },
          ]}
          rows={periods}
          rowKey={({ from }) => from}
        />
      </Stack>
    </Paper>
  )
}

function RemoveSchedule({ schedule }: { schedule: FuelSchedule }) {
  const [asks, setAsks] = useState(false)
  const remove = useChange('change-fuel-schedule')
  const { customer_name: customer } = schedule
  const owner = ownerOf(schedule)
  const body = { ...(customer === null ? {} : { customer_name: customer }), periods: [] }
  return (
    <>
      <Button
        size="xs"
        variant="default"
        aria-label={`Remove the schedule of ${owner}`}
        onClick={() => setAsks(true)}
      >
        Remove
      </Button>
      <ConfirmChange
        call={remove}
        sent={asks ? { body } : null}
        said={() => `The schedule of ${owner} is removed.`}
        close={() => setAsks(false)}
        title={`Remove the schedule of ${owner}?`}
        action="Remove the schedule"
      >
        <Text size="sm">
          {customer === null
            ? 'Loads of customers without a schedule will have no fuel surcharge.'
            : `The schedule of your brokerage will apply to loads of ${customer}.`}
        </Text>
      </ConfirmChange>
    </>
  )
}
