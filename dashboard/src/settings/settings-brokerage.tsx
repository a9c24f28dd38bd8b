import { Button, NativeSelect, Radio, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { type Answer, type Body, useChange } from '../api/index.ts'
import { methods, rateTypeNames, useSentForm } from '../shared-ui/index.ts'
import { ExpiryInputs } from './settings-expiry.tsx'
import { TimeZoneInput } from './settings-time-zone.tsx'

type Brokerage = Answer<'me'>['tenant']

const asText = (amount: number | null) => (amount === null ? '' : String(amount))

const floorFields = [
  { field: 'margin_pct', label: 'Minimum margin, %', unit: '%' },
  { field: 'margin', label: 'Minimum margin per load', unit: '$' },
  { field: 'rate_per_mile', label: 'Minimum rate per mile', unit: '$/mi' },
] as const

const fieldsOf = ({ floors, quote_expiry: expiry, stop_fee: fee, ...tenant }: Brokerage) => ({
  name: tenant.name,
  time_zone: tenant.time_zone,
  margin_pct: asText(floors.margin_pct),
  margin: asText(floors.margin),
  rate_per_mile: asText(floors.rate_per_mile),
  valid_days: asText(expiry.valid_days),
  counts_as: expiry.counts_as,
  default_basis: tenant.default_basis,
  default_rate_type: tenant.default_rate_type,
  integration_pool: tenant.integration_pool,
  stop_fee: String(fee.amount),
  stop_fee_currency: fee.currency,
  win_probability_method: tenant.win_probability_method,
})
type Fields = ReturnType<typeof fieldsOf>

const pointers = {
  ...Object.fromEntries(floorFields.map(({ field }) => [field, `/floors/${field}`])),
  valid_days: '/quote_expiry/valid_days',
  stop_fee: '/stop_fee/amount',
}

/** An amount as typed. An empty field is no minimum or limit, which the API represents as 0. */
const amountOf = (text: string) => Number(text.replaceAll(/[$,%\s]/g, '') || '0')

function wrongNumbers(fields: Fields): { readonly [Field in keyof Fields]?: string } {
  const isNumber = (field: keyof Fields) => !Number.isNaN(amountOf(fields[field]))
  const wrong = (field: keyof Fields, isRight: boolean, words: string) => (isRight ? {} : { [field]: words })
  return Object.assign(
    {},
    ...floorFields.map(({ field }) =>
      wrong(field, isNumber(field), 'Enter a number, or leave the field empty for no minimum.'),
    ),
    wrong('valid_days', isNumber('valid_days'), 'Enter a number, or leave the field empty for no limit.'),
    wrong(
      'stop_fee',
      isNumber('stop_fee') && fields.stop_fee.trim() !== '',
      'Enter the fee in dollars, such as 75.',
    ),
  )
}

function bodyOf(fields: Fields): Body<'update-tenant'> {
  const { margin_pct, margin, rate_per_mile, valid_days, counts_as, stop_fee, stop_fee_currency, ...rest } =
    fields
  return {
    ...rest,
    floors: {
      margin_pct: amountOf(margin_pct),
      margin: amountOf(margin),
      rate_per_mile: amountOf(rate_per_mile),
    },
    quote_expiry: { valid_days: amountOf(valid_days), counts_as },
    stop_fee: { amount: amountOf(stop_fee), currency: stop_fee_currency },
  }
}

/** The brokerage's name, its time zone, the counting method of win_probability, and the floors of recommended rates. */
export function BrokerageForm({ tenant, mayChange }: { tenant: Brokerage; mayChange: boolean }) {
  const { submit, input, pending, failure } = useSentForm(useChange('update-tenant'), {
    fields: fieldsOf(tenant),
    pointers,
    validate: wrongNumbers,
    send: (fields) => ({ body: bodyOf(fields) }),
    said: 'Settings saved.',
  })
  const common = { input, disabled: !mayChange }
  return (
    <form onSubmit={submit}>
      <Stack maw={720}>
        <TextInput label="Brokerage name" maw={420} disabled={!mayChange} required {...input('name')} />
        <TimeZoneInput disabled={!mayChange} {...input('time_zone')} />
        <SimpleGrid cols={{ base: 1, xs: 3 }}>
          {floorFields.map(({ field, label, unit }) => (
            <TextInput
              key={field}
              label={label}
              inputMode="decimal"
              rightSection={<span aria-hidden>{unit}</span>}
              rightSectionWidth={48}
              disabled={!mayChange}
              {...input(field)}
            />
          ))}
        </SimpleGrid>
        <ExpiryInputs {...common} />
        <NativeSelect
          label="Rates and costs are, unless a quote says something else"
          description="Statistics compare amounts on this basis. An amount on the other basis is converted by its fuel charge, or not counted."
          maw={420}
          data={[
            { value: 'all_in', label: 'all-in: with fuel and accessorials' },
            { value: 'linehaul', label: 'linehaul: without fuel and accessorials' },
          ]}
          disabled={!mayChange}
          {...input('default_basis')}
        />
        <RateTypeSettings {...common} />
        <StopFeeInputs {...common} />
        <MethodChoice {...common} />
        {failure('Settings not saved')}
        {mayChange && (
          <Button type="submit" loading={pending} style={{ alignSelf: 'flex-start' }}>
            Save settings
          </Button>
        )}
      </Stack>
    </form>
  )
}

interface Part {
  readonly input: ReturnType<typeof useSentForm>['input']
  readonly disabled: boolean
}

/** What the desk adds for each stop of a load with stops. */
function StopFeeInputs({ input, disabled }: Part) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} style={{ alignItems: 'end' }}>
      <TextInput
        label="Fee for each stop"
        description="The desk prices a load with stops by its longest leg and this fee."
        inputMode="decimal"
        disabled={disabled}
        {...input('stop_fee')}
      />
      <NativeSelect
        label="Currency of the fee"
        description="Canadian dollars are converted by the exchange rate of the day."
        data={['USD', 'CAD']}
        disabled={disabled}
        {...input('stop_fee_currency')}
      />
    </SimpleGrid>
  )
}

/** Whether quotes are spot or contract if they do not say so, and which ones the integration interface counts. */
function RateTypeSettings({ input, disabled }: Part) {
  const types = Object.entries(rateTypeNames).map(([value, label]) => ({ value, label }))
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} style={{ alignItems: 'end' }}>
      <NativeSelect
        label="Quotes are, unless they say something else"
        description="Statistics, estimates and costs of spot and contract quotes are kept apart."
        data={types}
        disabled={disabled}
        {...input('default_rate_type')}
      />
      <NativeSelect
        label="The integration interface counts"
        description="For markup and lane insight of calls that do not say a rate type."
        data={[{ value: 'all', label: 'Spot and contract' }, ...types]}
        disabled={disabled}
        {...input('integration_pool')}
      />
    </SimpleGrid>
  )
}

function MethodChoice({ input, disabled }: Part) {
  return (
    <Radio.Group
      label="How the API calculates win_probability"
      description="This setting does not affect the calibrated estimate on the quote desk."
      {...input('win_probability_method')}
    >
      <Stack gap="xs" mt="xs">
        {methods.map(({ value, label, description }) => (
          <Radio key={value} value={value} label={label} description={description} disabled={disabled} />
        ))}
      </Stack>
    </Radio.Group>
  )
}
