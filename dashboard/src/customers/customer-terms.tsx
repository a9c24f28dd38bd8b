import { Button, Group, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { useChange, useMay } from '../api/index.ts'
import { Failed, Section, TextLink, useNotice } from '../shared-ui/index.ts'
import type { CustomerRecord } from './customer-record.ts'
import { customerTermsInWords } from './customer-words.ts'

/** The tier and the payment terms: a form for admins, words for others. */
export function CustomerTerms({ customer }: { customer: CustomerRecord }) {
  const mayChange = useMay('admin')
  return (
    <Section title="Tier and payment terms">
      {mayChange ? (
        <TermsForm key={JSON.stringify([customer.tier, customer.payment_days])} customer={customer} />
      ) : (
        <Text size="sm">
          {customerTermsInWords(customer) || 'Not set'}. Owners and admins can change them.
        </Text>
      )}
      <Text size="sm" c="dimmed">
        <TextLink to={pagePaths.rules}>Pricing rules</TextLink> can apply to a customer or a tier.
      </Text>
    </Section>
  )
}

/** The days as a number; undefined if empty. Text that is not a number is sent as it is, and the error of the service explains it. */
function paymentDaysOf(text: string): number | undefined {
  const tidy = text.trim()
  if (tidy === '') return undefined
  const value = Number(tidy)
  return Number.isNaN(value) ? (tidy as unknown as number) : value
}

function TermsForm({ customer }: { customer: CustomerRecord }) {
  const [tier, setTier] = useState(customer.tier ?? '')
  const [days, setDays] = useState(customer.payment_days === null ? '' : String(customer.payment_days))
  const change = useChange('change-customer')
  const queries = useQueryClient()
  const notify = useNotice()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const payment_days = paymentDaysOf(days)
    change.mutate(
      {
        body: {
          name: customer.name,
          ...(tier.trim() === '' ? {} : { tier: tier.trim() }),
          ...(payment_days === undefined ? {} : { payment_days }),
        },
      },
      {
        onSuccess: () => {
          notify('Tier and payment terms saved.')
          void queries.invalidateQueries()
        },
      },
    )
  }
  const wrong = (field: string) => change.error?.fieldError(`/${field}`)
  const isFieldError = wrong('tier') !== undefined || wrong('payment_days') !== undefined
  return (
    <form onSubmit={submit}>
      <Group align="flex-start" gap="sm">
        <TextInput
          label="Tier"
          w={100}
          value={tier}
          onChange={(event) => setTier(event.currentTarget.value)}
          error={wrong('tier')}
          autoComplete="off"
        />
        <TextInput
          label="Pays in days"
          w={120}
          inputMode="numeric"
          value={days}
          onChange={(event) => setDays(event.currentTarget.value)}
          error={wrong('payment_days')}
          autoComplete="off"
        />
        <Button type="submit" variant="default" mt={25} loading={change.isPending}>
          Save
        </Button>
      </Group>
      {change.error !== null && !isFieldError && <Failed error={change.error} title="Not saved" />}
    </form>
  )
}
