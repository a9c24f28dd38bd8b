import { Button, Group, Paper, Text, TextInput, Title } from '@mantine/core'
import { marketCallsPerDayMax } from '#contract/limits.ts'
import { type Answer, useChange } from '../api/index.ts'
import { useSentForm } from '../shared-ui/index.ts'

const plain = (typed: string) => typed.replaceAll(/[,\s]/g, '')
const count = (number: number) => number.toLocaleString('en-US')

/** The daily maximum of calls to providers, and the calls of today. For admins. */
export function MarketCalls({
  calls: { calls_per_day: perDay, calls_today: today },
}: {
  calls: Answer<'list-market-keys'>
}) {
  const { submit, input, pending, failure } = useSentForm(useChange('update-tenant'), {
    fields: { market_calls_per_day: String(perDay) },
    validate: ({ market_calls_per_day: typed }) =>
      /^\d{1,9}$/.test(plain(typed))
        ? {}
        : { market_calls_per_day: `Enter a whole number from 0 to ${count(marketCallsPerDayMax)}.` },
    send: ({ market_calls_per_day: typed }) => ({ body: { market_calls_per_day: Number(plain(typed)) } }),
    said: 'The maximum is saved.',
  })
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit} aria-label="Calls per day">
      <Title order={2} size="h4">
        Calls per day
      </Title>
      <Text size="sm" mt="sm">
        {usedInWords(today, perDay)} Providers may charge for each call. Everybody who reads advice with the
        market rate causes calls.
      </Text>
      <Group align="flex-end" mt="sm">
        <TextInput
          label="Most calls to all providers per day"
          description="0: no calls"
          inputMode="numeric"
          required
          {...input('market_calls_per_day')}
        />
        <Button type="submit" variant="default" loading={pending}>
          Save
        </Button>
      </Group>
      {failure('The maximum was not saved')}
    </Paper>
  )
}

function usedInWords(today: number, perDay: number): string {
  if (perDay === 0) return 'No provider is asked.'
  if (today >= perDay) {
    return `All ${count(perDay)} calls of today are used: no provider is asked until midnight UTC.`
  }
  return `${count(today)} of ${count(perDay)} calls of today are used; the count begins anew at midnight UTC.`
}
