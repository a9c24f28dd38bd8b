import { Button, Group, SimpleGrid, Text } from '@mantine/core'
import { useState } from 'react'
import type { Quote } from '#contract/quote.ts'
import { sameTerms, termsBehind } from '#engine/rate-basis.ts'
import { useSession } from '../api/index.ts'
import {
  basedOn,
  dollars,
  dollarsIn,
  laneName,
  onOwnTerms,
  type QuoteAdvice,
  QuoteInput,
  quotedMargin,
  type RateTerms,
  ratePerMile,
  rpm,
  signedDollars,
  type TypedQuote,
  termsFields,
  termsInWords,
  unreadable,
} from '../shared-ui/index.ts'
import type { ReadRequote } from './requote-facts.ts'

/** The quote that the requote replaces. */
export function LastQuote({ quote }: { quote: Quote }) {
  const margin = quotedMargin(quote)
  return (
    <div>
      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
        {laneName(quote.origin, quote.destination)} · {quote.equipment} · {quote.customer_name}
      </Text>
      <Text size="sm" c="dimmed">
        {quote.lane_ref}: quoted {dollars(quote.quoted_rate)}
        {termsBehind({ basis: quote.quoted_basis, currency: quote.quoted_currency })}
        {quote.counted_miles !== null &&
          ` (${ratePerMile(rpm(quote.quoted_rate, quote.counted_miles), quote.quoted_currency)})`}
        {margin !== null && `, expected cost ${dollarsIn(margin.cost, quote.quoted_currency)}`}
      </Text>
    </div>
  )
}

/** The rate to quote, with the going rate and the minimum of the rules, on the terms of the requote. */
export function RateToQuote({
  advice,
  currency,
  onUse,
}: {
  advice: QuoteAdvice | null
  currency: string | null
  onUse: (rate: number) => void
}) {
  const own = (rate: number | null | undefined) =>
    rate == null || advice?.conversion == null ? null : onOwnTerms(advice.conversion, rate)
  const countered = advice?.counter_offer ?? null
  const rate = countered === null ? own(advice?.rules.rate) : countered.suggested_rate
  const [going, minimum] = [own(advice?.estimate?.reference_rate), own(advice?.rules.minimum?.rate)]
  return (
    <Group gap="xs" mih={24}>
      {rate !== null && (
        <>
          <Text size="sm">Rate to quote: {dollarsIn(rate, currency)}</Text>
          <Button size="compact-xs" variant="default" onClick={() => onUse(rate)}>
            Use {dollarsIn(rate, currency)}
          </Button>
        </>
      )}
      {going !== null && (
        <Text size="sm" c="dimmed">
          Going rate {dollarsIn(Math.round(going), currency)}
          {minimum !== null && `, minimum ${dollarsIn(minimum, currency)}`}
        </Text>
      )}
    </Group>
  )
}

/** The currency of a requote: the typed one, else that of the quote. Null if neither says it. */
export function currencyOf(quote: Quote, { terms }: ReadRequote): string | null {
  return terms.currency || quote.quoted_currency
}

/** A rate, and how it differs from the last quote. */
export function NewRate({ quote, read, rate }: { quote: Quote; read: ReadRequote; rate: number | null }) {
  const { default_basis } = useSession().tenant
  const { terms } = read
  const currency = currencyOf(quote, read)
  const last = { basis: quote.quoted_basis, currency: quote.quoted_currency }
  // Rates on different terms have no meaningful difference.
  const isComparable = sameTerms(
    { basis: terms.basis || last.basis, currency: terms.currency || last.currency },
    last,
    default_basis,
  )
  return (
    <>
      <Text fw={700} fz="xl">
        {dollarsIn(rate, currency)}
      </Text>
      <Text size="sm" mih="1.4rem">
        {rate === null
          ? 'Margin and chance appear as you type.'
          : isComparable
            ? `${signedDollars(rate - quote.quoted_rate, currency)} vs the last quote`
            : 'The last quote was on other terms'}
        {rate !== null &&
          quote.counted_miles !== null &&
          ` · ${ratePerMile(rpm(rate, quote.counted_miles), currency)}`}
      </Text>
    </>
  )
}

/** A small control for the new rate's basis, charges and currency. */
export function RequoteTerms({
  quote,
  terms,
  onType,
}: {
  quote: Quote
  terms: RateTerms
  onType: (changed: Partial<TypedQuote>) => void
}) {
  const { default_basis } = useSession().tenant
  const [isOpen, setIsOpen] = useState(false)
  const assumed = quote.quoted_basis ?? default_basis
  const currency = quote.quoted_currency ?? 'USD'
  const shown = termsInWords(
    { basis: terms.basis, currency: terms.currency === '' ? currency : terms.currency },
    assumed,
  )
  return (
    <div>
      <Button size="compact-sm" variant="subtle" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        The rate is {shown}
      </Button>
      {isOpen && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          {termsFields.map((field) => (
            <QuoteInput
              key={field}
              field={field}
              value={terms[field]}
              assumed={{ basis: assumed, currency, why: 'as before' }}
              error={unreadable(field, terms[field]) ?? undefined}
              onType={(text) => onType({ [field]: text })}
            />
          ))}
        </SimpleGrid>
      )}
    </div>
  )
}

/** The basis of the chances, in words. */
export function Ground({
  quote,
  advice,
  counterRate,
}: {
  quote: Quote
  advice: QuoteAdvice | null
  counterRate: number | null
}) {
  return (
    <Text size="xs" c="dimmed" mih="1.2rem" aria-live="polite">
      {advice === null ? '' : chanceBasisInWords(quote, advice, counterRate)}
    </Text>
  )
}

function chanceBasisInWords(
  { quoted_rate, quoted_currency: currency }: Quote,
  { conversion, estimate, counter_offer, not_priced }: QuoteAdvice,
  counterRate: number | null,
): string {
  if (not_priced !== undefined) return `There are no chances. ${not_priced}`
  if (conversion === null)
    return 'There are no chances: the fuel charge of the quote, or the exchange rate of today, is not known, so it cannot be compared with your other quotes.'
  if (estimate?.probability == null)
    return estimate?.sentence ?? 'There are no chances: you have no quotes yet.'
  const basis = `${basedOn(estimate)}. Confidence: ${counter_offer?.trust ?? estimate.trust}.`
  if (counterRate === null) return `The chance: ${basis}`
  return `The customer would pay ${dollarsIn(counterRate, currency)} and refused ${dollarsIn(quoted_rate, currency)}. Between the two, the chance follows the curve of this lane${estimate.customer === undefined ? '' : ' for this customer'}: ${basis} One in four customers is taken to refuse any increase. A customer who is only bargaining would pay more than this estimate assumes.`
}
