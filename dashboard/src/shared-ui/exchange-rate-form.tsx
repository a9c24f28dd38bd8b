import { Button, Group, Text, TextInput } from '@mantine/core'
import { useId } from 'react'
import { exchangeDays, USD_PER_CAD } from '#engine/exchange-days.ts'
import { useAnswer, useChange } from '../api/index.ts'
import { useSentForm } from './sent-form.ts'
import { Failed } from './states.tsx'

/** The day of a quote that is made now, for its exchange rate. The service counts these days in UTC. */
const today = () => new Date().toISOString().slice(0, 10)

/** Whether no exchange rate applies today; false until the service has answered. */
export function useLacksExchangeRate(isAsked: boolean): boolean {
  const { data } = useAnswer('list-exchange-rates', {}, { staleMs: 300_000, enabled: isAsked })
  if (!isAsked || data === undefined) return false
  const rates = data.rates.map(({ day, usd_per_cad: usdPerCad }) => ({ day, usdPerCad }))
  return exchangeDays(rates).every(({ day }) => day !== today())
}

const rateOf = (typed: string) => Number(typed.trim().replace(',', '.'))

/** Enters one exchange rate, from today on. Amounts in Canadian dollars are then compared with those in US dollars. */
export function ExchangeRateForm() {
  const { input, submit, failed, isPending } = useSentForm(useChange('add-exchange-rates'), {
    initial: { usd_per_cad: '' },
    check: ({ usd_per_cad: typed }) =>
      rateOf(typed) >= USD_PER_CAD.least && rateOf(typed) <= USD_PER_CAD.most
        ? {}
        : { usd_per_cad: `A number from ${USD_PER_CAD.least} to ${USD_PER_CAD.most}` },
    sent: ({ usd_per_cad: typed }) => ({
      body: { rates: [{ day: today(), usd_per_cad: rateOf(typed) }] },
    }),
    saved: ({ usd_per_cad: typed }) => `1 CAD = ${rateOf(typed)} USD from today`,
    clears: ['usd_per_cad'],
  })
  const id = useId()
  return (
    <form onSubmit={submit} noValidate>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Text size="sm" component="label" htmlFor={id} style={{ flex: 'none', lineHeight: '1.875rem' }}>
          1 CAD =
        </Text>
        <TextInput
          id={id}
          size="xs"
          w={150}
          aria-label="US dollars per Canadian dollar"
          inputMode="decimal"
          autoComplete="off"
          placeholder="0.73"
          {...input('usd_per_cad')}
        />
        <Text size="sm" style={{ flex: 'none', lineHeight: '1.875rem' }}>
          USD, from today
        </Text>
        <Button type="submit" size="xs" variant="default" loading={isPending} style={{ flex: 'none' }}>
          Save
        </Button>
      </Group>
      {failed && <Failed error={failed} title="The exchange rate was not saved" />}
    </form>
  )
}
