import { Button, Group, Paper, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { marketCallsPerDayMax } from '#contract/limits.ts'
import { type Answer, useChange } from '../api/index.ts'
import { Failed, useNotice } from '../shared-ui/index.ts'

const count = (number: number) => number.toLocaleString('en-US')

/** The daily maximum of calls to providers, and the calls of today. For admins. */
export function MarketCalls({
  calls: { calls_per_day: perDay, calls_today: today },
}: {
  calls: Answer<'list-market-keys'>
}) {
  const [text, setText] = useState(String(perDay))
  const [isNoNumber, setNoNumber] = useState(false)
  const change = useChange('update-tenant')
  const queries = useQueryClient()
  const notify = useNotice()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const given = text.replaceAll(/[,\s]/g, '')
    const isNumber = /^\d{1,9}$/.test(given)
    setNoNumber(!isNumber)
    if (!isNumber) return
    change.mutate(
      { body: { market_calls_per_day: Number(given) } },
      {
        onSuccess: () => {
          void queries.invalidateQueries()
          notify('The maximum is saved.')
        },
      },
    )
  }
  const wrong = isNoNumber
    ? `Enter a whole number from 0 to ${count(marketCallsPerDayMax)}.`
    : change.error?.fieldError('/market_calls_per_day')
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
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          error={wrong}
        />
        <Button type="submit" variant="default" loading={change.isPending}>
          Save
        </Button>
      </Group>
      {change.error !== null && wrong === undefined && (
        <Failed error={change.error} title="The maximum was not saved" />
      )}
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
