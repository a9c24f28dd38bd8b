import { Stack, Text } from '@mantine/core'
import { readPlace } from '#engine/place.ts'
import { regionOf } from '#engine/regions.ts'
import { useAnswer, useMay } from '../api/index.ts'
import { ExchangeRateForm, peopleChoices, useLacksExchangeRate } from '../shared-ui/index.ts'
import type { DeskQuote } from './desk-draft.ts'

/**
 * Whether a quote may be in Canadian dollars: it says so, or it has a place in Canada and names no currency.
 *
 * @example mayBeCanadian({ origin: 'Toronto, ON', destination: 'Chicago, IL', currency: '' }) // true
 */
export function mayBeCanadian({
  origin,
  destination,
  currency,
}: Pick<DeskQuote, 'origin' | 'destination' | 'currency'>): boolean {
  if (currency !== '') return currency === 'CAD'
  return [origin, destination].some((text) => {
    const place = readPlace(text)
    return place !== null && regionOf(place.state)?.startsWith('CA-') === true
  })
}

/** Asks for an exchange rate where the quote needs one and none applies today, or says who can enter it. */
export function ExchangeAsked({ quote }: { quote: DeskQuote }) {
  const mayEnter = useMay('admin')
  const isMissing = useLacksExchangeRate(mayBeCanadian(quote))
  if (!isMissing) return null
  return (
    <Stack gap={4} component="section" aria-label="Exchange rate">
      <Text size="sm">
        {quote.currency === 'CAD'
          ? 'Without an exchange rate, this quote cannot be compared with quotes in US dollars.'
          : 'Without an exchange rate, quotes of this lane in Canadian dollars cannot be compared.'}
      </Text>
      {mayEnter ? <ExchangeRateForm /> : <WhoCanEnter />}
    </Stack>
  )
}

/** The most admins that are named. */
const namedMax = 3

function WhoCanEnter() {
  const { data } = useAnswer('list-users', {}, { staleMs: 300_000 })
  const admins = (data?.users ?? []).filter(
    ({ role, status }) => status === 'active' && (role === 'admin' || role === 'owner'),
  )
  const names = peopleChoices(admins)
    .slice(0, namedMax)
    .map(({ label }) => label)
  return (
    <Text size="sm" c="dimmed">
      {names.length === 0 ? 'An admin of your brokerage' : names.join(' or ')} can enter one here.
    </Text>
  )
}
