import { Button, Group, Radio, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type Answer, type Body, type CallFailed, useChange } from '../api/index.ts'
import { Failed, type Method, methods, rateTypeNames, useNotice } from '../shared-ui/index.ts'
import { SettingChoice } from './settings-choice.tsx'
import { type ExpiredCounts, ExpiryInputs } from './settings-expiry.tsx'
import { TimeZoneInput } from './settings-time-zone.tsx'

type Brokerage = Answer<'me'>['tenant']

const asText = (amount: number | null) => (amount === null ? '' : String(amount))

interface Floors {
  readonly margin_pct: string
  readonly margin: string
  readonly rate_per_mile: string
}

function floorsAsText({ floors }: Brokerage): Floors {
  return {
    margin_pct: asText(floors.margin_pct),
    margin: asText(floors.margin),
    rate_per_mile: asText(floors.rate_per_mile),
  }
}

/** The minimums as numbers. An empty field is no minimum, which the API represents as 0. */
function amountsOf(floors: Floors): { readonly [Field in keyof Floors]: number } {
  const amount = (text: string) => Number(text.replaceAll(/[$,%\s]/g, '') || '0')
  return {
    margin_pct: amount(floors.margin_pct),
    margin: amount(floors.margin),
    rate_per_mile: amount(floors.rate_per_mile),
  }
}

function wrongInWords(
  field: string,
  notNumbers: readonly string[],
  error: CallFailed | null,
): string | undefined {
  if (notNumbers.includes(field)) {
    return `Enter a number, or leave the field empty for ${field === 'valid_days' ? 'no limit' : 'no minimum'}.`
  }
  return (
    error?.fieldError(`/floors/${field}`) ??
    error?.fieldError(`/quote_expiry/${field}`) ??
    error?.fieldError(`/${field}`)
  )
}

function NameInput({
  name,
  onChange,
  ...input
}: {
  name: string
  onChange: (name: string) => void
  error: string | undefined
  disabled: boolean
}) {
  return (
    <TextInput
      label="Brokerage name"
      maw={420}
      value={name}
      onChange={(event) => onChange(event.currentTarget.value)}
      required
      {...input}
    />
  )
}

/** The brokerage's name, its time zone, the counting method of win_probability, and the minimum rates. */
export function BrokerageForm({ tenant, mayChange }: { tenant: Brokerage; mayChange: boolean }) {
  const [name, setName] = useState(tenant.name)
  const [method, setMethod] = useState<Method>(tenant.win_probability_method)
  const [zone, setZone] = useState(tenant.time_zone)
  const [dateOrder, setDateOrder] = useState(tenant.date_order)
  const [floors, setFloors] = useState(() => floorsAsText(tenant))
  const [validDays, setValidDays] = useState(asText(tenant.quote_expiry.valid_days))
  const [expiredCounts, setExpiredCounts] = useState<ExpiredCounts>(tenant.quote_expiry.counts_as)
  const [basis, setBasis] = useState(tenant.default_basis)
  const [pools, setPools] = useState<PoolSettings>(tenant)
  const [notNumbers, setNotNumbers] = useState<readonly string[]>([])
  const change = useChange('update-tenant')
  const queries = useQueryClient()
  const notify = useNotice()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const amounts = amountsOf(floors)
    const days = Number(validDays.trim() || '0')
    const wrong = Object.entries({ ...amounts, valid_days: days }).flatMap(([field, amount]) =>
      Number.isNaN(amount) ? [field] : [],
    )
    setNotNumbers(wrong)
    if (wrong.length > 0) return
    const body: Body<'update-tenant'> = {
      name,
      win_probability_method: method,
      floors: amounts,
      time_zone: zone,
      date_order: dateOrder,
      quote_expiry: { valid_days: days, counts_as: expiredCounts },
      default_basis: basis,
      ...poolsOf(pools),
    }
    change.mutate(
      { body },
      {
        onSuccess: () => {
          notify('Settings saved.')
          void queries.invalidateQueries()
        },
      },
    )
  }
  const wrong = (field: string) => wrongInWords(field, notNumbers, change.error)
  const isFieldError = ['name', 'time_zone', 'valid_days', ...Object.keys(floors)].some(
    (field) => wrong(field) !== undefined,
  )
  return (
    <form onSubmit={submit}>
      <Stack maw={720}>
        <NameInput name={name} onChange={setName} error={wrong('name')} disabled={!mayChange} />
        <TimeZoneInput zone={zone} onChange={setZone} error={wrong('time_zone')} disabled={!mayChange} />
        <DateOrderChoice order={dateOrder} onChange={setDateOrder} disabled={!mayChange} />
        <FloorInputs floors={floors} onChange={setFloors} wrong={wrong} disabled={!mayChange} />
        <ExpiryInputs
          days={validDays}
          onDays={setValidDays}
          counts={expiredCounts}
          onCounts={setExpiredCounts}
          wrong={wrong('valid_days')}
          disabled={!mayChange}
        />
        <BasisChoice basis={basis} onChange={setBasis} disabled={!mayChange} />
        <RateTypeSettings pools={pools} onChange={setPools} disabled={!mayChange} />
        <MethodChoice method={method} onChange={setMethod} disabled={!mayChange} />
        {change.error !== null && !isFieldError && <Failed error={change.error} title="Settings not saved" />}
        {mayChange && (
          <Button type="submit" loading={change.isPending} style={{ alignSelf: 'flex-start' }}>
            Save settings
          </Button>
        )}
      </Stack>
    </form>
  )
}

type DateOrder = Brokerage['date_order']

/** The choice of the order of day and month in files that do not show it. */
function DateOrderChoice({
  order,
  onChange,
  disabled,
}: {
  order: DateOrder
  onChange: (order: DateOrder) => void
  disabled: boolean
}) {
  return (
    <SettingChoice
      label="Dates of files such as 3/1/2026 are"
      description="If a file has a date such as 25/3/2026, that date decides."
      value={order}
      choices={{ month_first: 'month first: March 1', day_first: 'day first: 3 January' }}
      onChange={onChange}
      disabled={disabled}
    />
  )
}

type Basis = Brokerage['default_basis']

/** The choice of the basis of amounts that state none. */
function BasisChoice({
  basis,
  onChange,
  disabled,
}: {
  basis: Basis
  onChange: (basis: Basis) => void
  disabled: boolean
}) {
  return (
    <SettingChoice
      label="Rates and costs are, unless a quote says something else"
      description="Statistics compare amounts on this basis. An amount on the other basis is converted by its fuel charge, or not counted."
      value={basis}
      choices={{
        all_in: 'all-in: with fuel and accessorials',
        linehaul: 'linehaul: without fuel and accessorials',
      }}
      onChange={onChange}
      disabled={disabled}
    />
  )
}

type PoolSettings = Pick<Brokerage, 'default_rate_type' | 'integration_pool'>

const poolsOf = ({ default_rate_type, integration_pool }: PoolSettings): PoolSettings => ({
  default_rate_type,
  integration_pool,
})

/** The rate type of quotes that state none, and the rate types that the integration interface counts. */
function RateTypeSettings({
  pools,
  onChange,
  disabled,
}: {
  pools: PoolSettings
  onChange: (pools: PoolSettings) => void
  disabled: boolean
}) {
  return (
    <Group align="flex-start" grow preventGrowOverflow={false}>
      <SettingChoice
        label="Quotes are, unless they say something else"
        description="Statistics, estimates and costs of spot and contract quotes are separate."
        value={pools.default_rate_type}
        choices={rateTypeNames}
        onChange={(default_rate_type) => onChange({ ...pools, default_rate_type })}
        disabled={disabled}
        isWide
      />
      <SettingChoice
        label="The integration interface counts"
        description="For markup and lane insight of calls that do not say a rate type."
        value={pools.integration_pool}
        choices={{ all: 'Spot and contract', ...rateTypeNames }}
        onChange={(integration_pool) => onChange({ ...pools, integration_pool })}
        disabled={disabled}
        isWide
      />
    </Group>
  )
}

const floorFields = [
  { field: 'margin_pct', label: 'Minimum margin, % of the rate', unit: '%' },
  { field: 'margin', label: 'Minimum margin per load, dollars', unit: '$' },
  { field: 'rate_per_mile', label: 'Minimum rate per loaded mile', unit: '$/mi' },
] as const

function FloorInputs({
  floors,
  onChange,
  wrong,
  disabled,
}: {
  floors: Floors
  onChange: (change: (floors: Floors) => Floors) => void
  wrong: (field: string) => string | undefined
  disabled: boolean
}) {
  return (
    <Group align="flex-start" grow preventGrowOverflow={false}>
      {floorFields.map(({ field, label, unit }) => (
        <TextInput
          key={field}
          label={label}
          inputMode="decimal"
          rightSection={<span aria-hidden>{unit}</span>}
          rightSectionWidth={48}
          value={floors[field]}
          onChange={(event) => {
            const { value } = event.currentTarget
            onChange((all) => ({ ...all, [field]: value }))
          }}
          error={wrong(field)}
          disabled={disabled}
        />
      ))}
    </Group>
  )
}

function MethodChoice({
  method,
  onChange,
  disabled,
}: {
  method: Method
  onChange: (method: Method) => void
  disabled: boolean
}) {
  return (
    <Radio.Group
      label="How the API calculates win_probability"
      description="This setting does not affect the calibrated estimate on the quote desk."
      value={method}
      onChange={(value) => onChange(value as Method)}
    >
      <Stack gap="xs" mt="xs">
        {methods.map(({ value, label, description }) => (
          <Radio key={value} value={value} label={label} description={description} disabled={disabled} />
        ))}
      </Stack>
    </Radio.Group>
  )
}
