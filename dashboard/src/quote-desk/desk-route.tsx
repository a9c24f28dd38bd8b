import { Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { typingPauseMs } from '#client/debounce.ts'
import { type Body, useAnswer, useSession } from '../api/index.ts'
import { count, dollars, Failed, laneName, readDollars } from '../shared-ui/index.ts'
import type { DeskLane } from './desk-draft.ts'
import { askedOf, type RowAdvice } from './desk-lanes-advice.ts'

type Route = NonNullable<RowAdvice['route']>
type Price = Route['prices'][number]

const methodNames: Readonly<Record<Price['method'], string>> = {
  sum_of_legs: 'Sum of legs',
  longest_leg_plus_stop_fee: 'Longest leg plus stop fee',
}

/** @example priceInWords(price) // '$1,200 + 2 × $75 = $1,350' */
function priceInWords({ parts, total }: Price): string {
  const sum = parts.map(({ leg, times, each }) =>
    leg === null ? `${times} × ${dollars(each)}` : dollars(each),
  )
  return `${sum.join(' + ')} = ${dollars(total)}`
}

/** The prices of a load for a row with other lanes. */
export function routeInWords({ prices }: Route): string {
  if (prices.length === 0) return 'stored, not priced'
  return prices
    .map(({ method, total }) => `${methodNames[method].toLowerCase()} ${dollars(total)}`)
    .join(', ')
}

/** The prices of a load that is no direct truckload, by each method that can price it; or why it is stored and not priced. */
export function RouteAdvice({
  lane,
  number,
  customer,
  onUse,
}: {
  lane: DeskLane
  number: number
  customer: string
  onUse: (rate: number) => void
}) {
  const { stop_fee: usual } = useSession().tenant
  // Empty is the fee of the brokerage.
  const [fee, setFee] = useState('')
  const asked = askedOf(lane)
  const stopFee = readDollars(fee)
  const named = customer.trim()
  const body = {
    ...(named === '' ? {} : { customer: named }),
    lanes: asked === null ? [] : [{ ...asked, ...(stopFee === null ? {} : { stop_fee: stopFee }) }],
  }
  const [settled] = useDebouncedValue(JSON.stringify(body), typingPauseMs)
  const answer = useAnswer(
    'advise-lanes',
    { body: JSON.parse(settled) as Body<'advise-lanes'> },
    { enabled: asked !== null && settled === JSON.stringify(body), comesBack: true },
  )
  const [result] = answer.data?.results ?? []
  const route = result?.status === 200 ? result.route : undefined
  return (
    <section aria-label="Advice" aria-busy={answer.isFetching} className="desk-advice">
      <Stack gap="sm">
        <Title order={2} size="h5" style={{ overflowWrap: 'anywhere' }}>
          {asked === null
            ? 'Advice'
            : `Prices for lane ${number}: ${laneName(lane.origin.trim(), lane.destination.trim())}`}
        </Title>
        <Paper withBorder p="sm" aria-live="polite">
          {asked === null ? (
            <Text size="sm">The prices appear when origin and destination are complete.</Text>
          ) : answer.error !== null ? (
            <Failed error={answer.error} retry={() => void answer.refetch()} title="No prices right now" />
          ) : result?.status === 422 ? (
            <Text size="sm">{result.detail}</Text>
          ) : route === undefined ? (
            <Text size="sm" c="dimmed">
              Loading the prices…
            </Text>
          ) : (
            <Prices route={route} onUse={onUse} />
          )}
        </Paper>
        {route !== undefined && route.legs.length > 0 && (
          <TextInput
            label="Fee for each stop"
            description="In US dollars, for this load"
            placeholder={`${usual.amount}${usual.currency === 'CAD' ? ' CAD' : ''}`}
            leftSection="$"
            inputMode="decimal"
            autoComplete="off"
            w="12rem"
            value={fee}
            error={stopFee === null && fee.trim() !== '' ? 'Enter the fee in dollars, such as 75' : undefined}
            onChange={(event) => setFee(event.currentTarget.value)}
          />
        )}
      </Stack>
    </section>
  )
}

function Prices({ route, onUse }: { route: Route; onUse: (rate: number) => void }) {
  return (
    <Stack gap="xs">
      {route.prices.map((price) => (
        <Group key={price.method} gap="sm">
          <Text>
            <b>{methodNames[price.method]}</b> {priceInWords(price)}
          </Text>
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Use ${dollars(price.total)}`}
            onClick={() => onUse(price.total)}
          >
            Use
          </Button>
        </Group>
      ))}
      <Text size="sm">{route.sentence}</Text>
      {route.legs.map(({ origin, destination, miles, rate }) => (
        <Text key={`${origin} ${destination}`} size="sm" c="dimmed">
          {laneName(origin, destination)}: {miles === null ? 'unknown miles' : `${count(miles)} miles`},{' '}
          {rate === null ? 'no rate known' : dollars(rate)}
        </Text>
      ))}
    </Stack>
  )
}
