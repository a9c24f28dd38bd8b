import { Button, Group, Text, TextInput } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { useChange, useMay } from '../api/index.ts'
import { Section, sentNumber, TextLink, useSentForm } from '../shared-ui/index.ts'
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

function TermsForm({ customer }: { customer: CustomerRecord }) {
  const { submit, input, pending, failure } = useSentForm(useChange('change-customer'), {
    fields: {
      tier: customer.tier ?? '',
      payment_days: customer.payment_days === null ? '' : String(customer.payment_days),
    },
    send: ({ tier, payment_days: days }) => ({
      body: {
        name: customer.name,
        ...(tier.trim() === '' ? {} : { tier: tier.trim() }),
        ...(days.trim() === '' ? {} : { payment_days: sentNumber(days) }),
      },
    }),
    said: 'Tier and payment terms saved.',
  })
  return (
    <form onSubmit={submit}>
      <Group align="flex-start" gap="sm">
        <TextInput label="Tier" w={100} autoComplete="off" {...input('tier')} />
        <TextInput
          label="Pays in days"
          w={120}
          inputMode="numeric"
          autoComplete="off"
          {...input('payment_days')}
        />
        <Button type="submit" variant="default" mt={25} loading={pending}>
          Save
        </Button>
      </Group>
      {failure('Not saved')}
    </form>
  )
}
