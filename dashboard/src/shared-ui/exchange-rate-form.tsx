import { Button, Group, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { exchangeDays, USD_PER_CAD } from '#engine/exchange-days.ts'
import { useAnswer, useChange } from '../api/index.ts'
import { useNotice } from './notices.tsx'
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

/** Enters one exchange rate, from today on. Amounts in Canadian dollars are then compared with those in US dollars. */
export function ExchangeRateForm() {
  const [typed, setTyped] = useState('')
  const [isWrong, setWrong] = useState(false)
  const add = useChange('add-exchange-rates')
  const queries = useQueryClient()
  const notify = useNotice()
  const id = useId()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const rate = Number(typed.trim().replace(',', '.'))
    const isRate = rate >= USD_PER_CAD.least && rate <= USD_PER_CAD.most
    setWrong(!isRate)
    if (!isRate) return
    add.mutate(
      { body: { rates: [{ day: today(), usd_per_cad: rate }] } },
      {
        onSuccess: () => {
          setTyped('')
          notify(`1 CAD = ${rate} USD from today`)
          void queries.invalidateQueries()
        },
      },
    )
  }
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
          value={typed}
          error={isWrong && `A number from ${USD_PER_CAD.least} to ${USD_PER_CAD.most}`}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Text size="sm" style={{ flex: 'none', lineHeight: '1.875rem' }}>
          USD, from today
        </Text>
        <Button type="submit" size="xs" variant="default" loading={add.isPending} style={{ flex: 'none' }}>
          Save
        </Button>
      </Group>
      {add.error !== null && <Failed error={add.error} title="The exchange rate was not saved" />}
    </form>
  )
}
