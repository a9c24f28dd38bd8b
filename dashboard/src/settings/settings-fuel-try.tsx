import { Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { DIESEL_PRICE_DAYS_MAX } from '#engine/fuel-surcharge.ts'
import { type Answer, type CallFailed, call, type Query } from '../api/index.ts'
import {
  CustomerInput,
  calendarDay,
  count,
  dollars,
  Failed,
  Loading,
  Section,
  useSentForm,
} from '../shared-ui/index.ts'
import { milled } from './settings-fuel-words.ts'

type Asked = Query<'get-fuel-surcharge'>

/** Computes the surcharge of a load by the diesel prices and the schedules. */
export function TryFuel() {
  const surcharge = useMutation<Answer<'get-fuel-surcharge'>, CallFailed, Asked>({
    mutationFn: (query) => call('get-fuel-surcharge', { query }),
  })
  const { input, submit, failed } = useSentForm(surcharge, {
    initial: { day: new Date().toISOString().slice(0, 10), miles: '780', customer_name: '' },
    sent: ({ day, miles, customer_name }) => ({
      day,
      // A text that is not a number is sent as it is, so that the service names the field.
      miles: miles.trim().replaceAll(',', '') as unknown as number,
      ...(customer_name.trim() === '' ? {} : { customer_name: customer_name.trim() }),
    }),
  })
  return (
    <Section
      title="Surcharge of a load"
      hint="What the diesel prices and schedules give for a load on a day."
    >
      <Paper withBorder p="md" component="form" onSubmit={submit} aria-label="Surcharge of a load" noValidate>
        <Stack gap="sm">
          <Group align="flex-end">
            <TextInput label="Day of the load" type="date" {...input('day')} />
            <TextInput label="Loaded miles" inputMode="decimal" w={160} {...input('miles')} />
            <div style={{ flex: '1 1 12rem' }}>
              <CustomerInput label="Customer, if any" {...input('customer_name')} />
            </div>
            <Button type="submit" variant="default">
              Compute the surcharge
            </Button>
          </Group>
          {surcharge.isPending && <Loading label="Computing the surcharge" rows={1} />}
          {failed && <Failed error={failed} title="The surcharge was not computed" />}
          {surcharge.isSuccess && <Result asked={surcharge.variables} answer={surcharge.data} />}
        </Stack>
      </Paper>
    </Section>
  )
}

function Result({ asked, answer }: { asked: Asked; answer: Answer<'get-fuel-surcharge'> }) {
  const { surcharge, per_mile: perMile, diesel, schedule, missing } = answer
  if (surcharge === null || perMile === null || diesel === null) {
    return (
      <Text size="sm" role="status">
        {missing === 'schedule'
          ? `No surcharge: no schedule covers ${calendarDay(asked.day)}.`
          : `Unknown: no diesel price of the ${DIESEL_PRICE_DAYS_MAX} days up to ${calendarDay(asked.day)} is loaded.`}
      </Text>
    )
  }
  return (
    <div role="status">
      <Text fw={650}>{dollars(surcharge)}</Text>
      <Text size="sm">
        {milled(perMile)} per mile for {count(Number(asked.miles))} miles on {calendarDay(asked.day)}, with
        diesel at {milled(diesel.price)} (week of {calendarDay(diesel.week)}), by the schedule of{' '}
        {schedule === 'customer' ? 'the customer' : 'your brokerage'}.
      </Text>
    </div>
  )
}
