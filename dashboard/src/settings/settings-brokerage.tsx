import { Button, Radio, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { type Answer, useChange } from '../api/index.ts'
import { Failed, type FormInput, methods, rateTypeNames, useSentForm } from '../shared-ui/index.ts'
import { SettingChoice } from './settings-choice.tsx'
import { TimeZoneInput } from './settings-time-zone.tsx'

type Brokerage = Answer<'me'>['tenant']

const asText = (amount: number | null) => String(amount ?? '')
/** An empty field is no minimum or limit, which the API represents as 0. */
const amountOf = (text: string) => Number(text.replaceAll(/[$,%\s]/g, '') || '0')

const floorFields = [
  { field: 'margin_pct', label: 'Minimum margin, % of the rate', unit: '%' },
  { field: 'margin', label: 'Minimum margin per load, dollars', unit: '$' },
  { field: 'rate_per_mile', label: 'Minimum rate per loaded mile', unit: '$/mi' },
] as const

/** The values of the form. Amounts are texts. */
function fieldsOf({ floors, quote_expiry, ...tenant }: Brokerage) {
  return {
    name: tenant.name,
    time_zone: tenant.time_zone,
    date_order: tenant.date_order,
    margin_pct: asText(floors.margin_pct),
    margin: asText(floors.margin),
    rate_per_mile: asText(floors.rate_per_mile),
    valid_days: asText(quote_expiry.valid_days),
    counts_as: quote_expiry.counts_as,
    default_basis: tenant.default_basis,
    default_rate_type: tenant.default_rate_type,
    integration_pool: tenant.integration_pool,
    win_probability_method: tenant.win_probability_method,
  }
}
type Fields = ReturnType<typeof fieldsOf>

function bodyOf({ margin_pct, margin, rate_per_mile, valid_days, counts_as, ...body }: Fields) {
  return {
    ...body,
    floors: {
      margin_pct: amountOf(margin_pct),
      margin: amountOf(margin),
      rate_per_mile: amountOf(rate_per_mile),
    },
    quote_expiry: { valid_days: amountOf(valid_days), counts_as },
  }
}

/** The errors of amounts that are not numbers. */
function notNumbers(fields: Fields): Partial<Record<keyof Fields, string>> {
  const wrong = (['margin_pct', 'margin', 'rate_per_mile', 'valid_days'] as const).filter((field) =>
    Number.isNaN(amountOf(fields[field])),
  )
  return Object.fromEntries(
    wrong.map((field) => [
      field,
      `Enter a number, or leave the field empty for ${field === 'valid_days' ? 'no limit' : 'no minimum'}.`,
    ]),
  )
}

/** The brokerage's name, its time zone, the counting method of win_probability, and the minimum rates. */
export function BrokerageForm({ tenant, mayChange }: { tenant: Brokerage; mayChange: boolean }) {
  const form = useSentForm(useChange('update-tenant'), {
    initial: fieldsOf(tenant),
    check: notNumbers,
    sent: (fields) => ({ body: bodyOf(fields) }),
    saved: 'Settings saved.',
  })
  const input = <Field extends keyof Fields>(field: Field) => ({
    ...form.input(field),
    disabled: !mayChange,
  })
  return (
    <form onSubmit={form.submit}>
      <Stack maw={960}>
        <Row>
          <TextInput label="Brokerage name" required {...input('name')} />
          <TimeZoneInput {...input('time_zone')} />
        </Row>
        <Text size="sm" c="dimmed">
          Lanewise does not recommend rates below these minimums. They are the pricing rule for all quotes: if
          you change or remove that rule, they change here, too.
        </Text>
        <Row>
          {floorFields.map(({ field, label, unit }) => (
            <TextInput
              key={field}
              label={label}
              inputMode="decimal"
              rightSection={<span aria-hidden>{unit}</span>}
              rightSectionWidth={48}
              {...input(field)}
            />
          ))}
        </Row>
        <PricedAndCounted input={input} />
        {form.failed && <Failed error={form.failed} title="Settings not saved" />}
        {mayChange && (
          <Button type="submit" loading={form.isPending} style={{ alignSelf: 'flex-start' }}>
            Save settings
          </Button>
        )}
      </Stack>
    </form>
  )
}

/** Fields beside each other, their inputs on one line. */
function Row({ children }: { children: readonly ReactNode[] }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: children.length }} style={{ alignItems: 'end' }}>
      {children}
    </SimpleGrid>
  )
}

/** When quotes expire, and how quotes and files are read and counted. */
function PricedAndCounted({
  input,
}: {
  input: <Field extends keyof Fields>(field: Field) => FormInput<Fields[Field]> & { disabled: boolean }
}) {
  const { disabled, ...method } = input('win_probability_method')
  return (
    <>
      <Row>
        <TextInput
          label="A quote is valid for, days"
          description="A pending quote without a date of its own expires after this time. Leave it empty, and quotes stay pending."
          inputMode="numeric"
          {...input('valid_days')}
        />
        <SettingChoice
          label="Statistics count an expired quote as"
          description="An outcome or a booking that arrives later replaces the expiry."
          choices={{ pending: 'pending: nobody knows the answer', lost: 'lost: no answer is a no' }}
          {...input('counts_as')}
        />
      </Row>
      <Row>
        <SettingChoice
          label="Rates and costs are, unless a quote says something else"
          description="Statistics compare amounts on this basis. An amount on the other basis is converted by its fuel charge, or not counted."
          choices={{
            all_in: 'all-in: with fuel and accessorials',
            linehaul: 'linehaul: without fuel and accessorials',
          }}
          {...input('default_basis')}
        />
        <SettingChoice
          label="Quotes are, unless they say something else"
          description="Statistics, estimates and costs of spot and contract quotes are separate."
          choices={rateTypeNames}
          {...input('default_rate_type')}
        />
      </Row>
      <details>
        <summary>Files and the API</summary>
        <Stack mt="sm">
          <Row>
            <SettingChoice
              label="Dates of files such as 3/1/2026 are"
              description="If a file has a date such as 25/3/2026, that date decides."
              choices={{ month_first: 'month first: March 1', day_first: 'day first: 3 January' }}
              {...input('date_order')}
            />
            <SettingChoice
              label="The integration interface counts"
              description="For markup and lane insight of calls that do not say a rate type."
              choices={{ all: 'Spot and contract', ...rateTypeNames }}
              {...input('integration_pool')}
            />
          </Row>
          <Radio.Group
            label="How the API calculates win_probability"
            description="This setting does not affect the calibrated estimate on the quote desk."
            {...method}
            onChange={(value) => method.onChange(value as typeof method.value)}
          >
            <Stack gap="xs" mt="xs">
              {methods.map(({ value, label, description }) => (
                <Radio
                  key={value}
                  value={value}
                  label={label}
                  description={description}
                  disabled={disabled}
                />
              ))}
            </Stack>
          </Radio.Group>
        </Stack>
      </details>
    </>
  )
}
