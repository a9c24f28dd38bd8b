import { Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { DIESEL_PRICE_DAYS_MAX } from '#engine/fuel-surcharge.ts'
import { type Answer, type Query, useAnswer } from '../api/index.ts'
import { CustomerInput, calendarDay, count, dollars, Failed, Loading, Section } from '../shared-ui/index.ts'
import { milled } from './settings-fuel-words.ts'

type Asked = Query<'get-fuel-surcharge'>

/** Computes the surcharge of a load by the diesel prices and the schedules. */
export function TryFuel() {
  const [day, setDay] = useState(() => new Date().toISOString().slice(0, 10))
  const [miles, setMiles] = useState('780')
  const [customer, setCustomer] = useState('')
  const [asked, setAsked] = useState<Asked | null>(null)
  const surcharge = useAnswer(
    'get-fuel-surcharge',
    { query: asked ?? { day, miles: 0 } },
    { enabled: asked !== null },
  )
  const error = asked === null ? null : surcharge.error
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // A text that is not a number is sent as it is, so that the service names the field.
    const written = miles.trim().replaceAll(',', '') as unknown as number
    const name = customer.trim()
    setAsked({ day, miles: written, ...(name === '' ? {} : { customer_name: name }) })
  }
  return (
    <Section
      title="Surcharge of a load"
      hint="What the diesel prices and schedules give for a load on a day."
    >
      <Paper withBorder p="md" component="form" onSubmit={submit} aria-label="Surcharge of a load" noValidate>
        <Stack gap="sm">
          <Group grow align="flex-start" preventGrowOverflow={false}>
            <TextInput
              label="Day of the load"
              type="date"
              value={day}
              onChange={(event) => setDay(event.currentTarget.value)}
              error={error?.fieldError('day')}
            />
            <TextInput
              label="Loaded miles"
              inputMode="decimal"
              value={miles}
              onChange={(event) => setMiles(event.currentTarget.value)}
              error={error?.fieldError('miles')}
            />
            <CustomerInput
              label="Customer, if any"
              value={customer}
              onChange={setCustomer}
              error={error?.fieldError('customer_name')}
            />
          </Group>
          {asked !== null && surcharge.isPending && <Loading label="Computing the surcharge" rows={1} />}
          {error !== null && error.errors.length === 0 && (
            <Failed error={error} title="The surcharge was not computed" />
          )}
          {asked !== null && surcharge.data !== undefined && error === null && (
            <Result asked={asked} answer={surcharge.data} />
          )}
          <Group justify="flex-end">
            <Button type="submit" variant="default">
              Compute the surcharge
            </Button>
          </Group>
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
