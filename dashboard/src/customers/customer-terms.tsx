import { Button, Group, Text, TextInput } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { useChange, useMay } from '../api/index.ts'
import { Failed, Section, TextLink, useSentForm } from '../shared-ui/index.ts'
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
  const { input, submit, failed, isPending } = useSentForm(useChange('change-customer'), {
    initial: { tier: customer.tier ?? '', payment_days: String(customer.payment_days ?? '') },
    sent: ({ tier, ...typed }) => {
      const payment_days = paymentDaysOf(typed.payment_days)
      return {
        body: {
          name: customer.name,
          ...(tier.trim() === '' ? {} : { tier: tier.trim() }),
          ...(payment_days === undefined ? {} : { payment_days }),
        },
      }
    },
    saved: 'Tier and payment terms saved.',
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
        <Button type="submit" variant="default" mt={25} loading={isPending}>
          Save
        </Button>
      </Group>
      {failed && <Failed error={failed} title="Not saved" />}
    </form>
  )
}
