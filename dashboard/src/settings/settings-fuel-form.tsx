import {
  Alert,
  Button,
  Fieldset,
  Group,
  NativeSelect,
  Paper,
  Stack,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { fuelPeriodsMax } from '#contract/limits.ts'
import { type CallFailed, useChange } from '../api/index.ts'
import { CustomerInput, Failed, useSentForm } from '../shared-ui/index.ts'
import { draftOf, emptyPeriod, type FuelPeriod, type PeriodDraft, sentPeriod } from './settings-fuel-words.ts'

type Owner =
  | { readonly kind: 'brokerage' }
  | { readonly kind: 'customer'; readonly name: string }
  | { readonly kind: 'new customer' }

/** Edits a schedule. The service's refusals are shown at their fields. */
export function ScheduleForm({
  owner,
  periods: stored,
  close,
}: {
  owner: Owner
  periods: readonly FuelPeriod[]
  close: () => void
}) {
  const save = useChange('change-fuel-schedule')
  const { values, set, input, submit, isPending } = useSentForm(save, {
    initial: {
      customer_name: owner.kind === 'customer' ? owner.name : '',
      periods: stored.length === 0 ? [emptyPeriod()] : stored.map(draftOf),
    },
    sent: ({ customer_name, periods }) => ({
      body: {
        ...(owner.kind === 'brokerage' ? {} : { customer_name: customer_name.trim() }),
        periods: periods.map(sentPeriod),
      },
    }),
    saved: ({ customer_name }) => `The schedule of ${customer_name.trim() || 'your brokerage'} is saved.`,
    onSuccess: close,
  })
  const { periods } = values
  const title =
    owner.kind === 'new customer'
      ? 'Add the schedule of a customer'
      : `The schedule of ${owner.kind === 'customer' ? owner.name : 'your brokerage'}`
  const setPeriods = (next: PeriodDraft[]) => set('periods', next)
  const change = (key: string, next: Partial<PeriodDraft>) =>
    setPeriods(periods.map((one) => (one.key === key ? { ...one, ...next } : one)))
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit} aria-label={title} noValidate>
      <Stack gap="sm">
        <Title order={3} size="h5">
          {title}
        </Title>
        {owner.kind === 'new customer' && <CustomerInput label="Customer" {...input('customer_name')} />}
        {periods.map((period, index) => (
          <PeriodFields
            key={period.key}
            index={index}
            period={period}
            error={save.error}
            onChange={(next) => change(period.key, next)}
            onRemove={
              periods.length === 1
                ? null
                : () => {
                    // Clears the errors, which name periods by position.
                    save.reset()
                    setPeriods(periods.filter(({ key }) => key !== period.key))
                  }
            }
          />
        ))}
        {save.error !== null && <NotSaved error={save.error} />}
        <Group justify="space-between">
          <Button
            variant="default"
            disabled={periods.length >= fuelPeriodsMax}
            onClick={() => setPeriods([...periods, emptyPeriod()])}
          >
            Add a period
          </Button>
          <Group gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending}>
              Save the schedule
            </Button>
          </Group>
        </Group>
      </Stack>
    </Paper>
  )
}

/** Why a schedule was not saved; refusals that the form shows at their fields are not repeated. */
function NotSaved({ error }: { error: CallFailed }) {
  const atFields = error.errors.filter(({ pointer }) => shownAtField.test(pointer ?? ''))
  if (atFields.length === 0 || atFields.length < error.errors.length) {
    return <Failed error={error} title="The schedule was not saved" />
  }
  return (
    <Alert color="red" variant="outline" role="alert" title="The schedule was not saved">
      Correct the marked fields.
    </Alert>
  )
}

const shownAtField =
  /^\/(customer_name|periods\/\d+\/(from|until|base_price|miles_per_gallon|steps(\/\d+\/\w+)?))$/

function PeriodFields({
  index,
  period,
  error,
  onChange,
  onRemove,
}: {
  index: number
  period: PeriodDraft
  error: CallFailed | null
  onChange: (next: Partial<PeriodDraft>) => void
  onRemove: (() => void) | null
}) {
  const number = index + 1
  /** The error of a field, without the API name, because the field has a label. */
  const wrong = (member: string) => {
    const said = error?.fieldError(`/periods/${index}/${member}`)
    return said?.startsWith(`${member}: `) ? said.slice(member.length + 2) : said
  }
  return (
    <Fieldset legend={`Period ${number}`}>
      <Stack gap="sm">
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <TextInput
            label="First day"
            type="date"
            required
            value={period.from}
            onChange={(event) => onChange({ from: event.currentTarget.value })}
            error={wrong('from')}
          />
          <TextInput
            label="Last day, if it ends"
            type="date"
            value={period.until}
            onChange={(event) => onChange({ until: event.currentTarget.value })}
            error={wrong('until')}
          />
        </Group>
        <NativeSelect
          label="The surcharge per mile follows"
          value={period.kind}
          onChange={(event) => onChange({ kind: event.currentTarget.value as PeriodDraft['kind'] })}
          data={[
            { value: 'miles_per_gallon', label: 'a base price and miles per gallon' },
            { value: 'steps', label: 'a table of steps' },
          ]}
        />
        {period.kind === 'steps' ? (
          <StepsField index={index} period={period} error={error} onChange={onChange} />
        ) : (
          <Group grow align="flex-start" preventGrowOverflow={false}>
            <TextInput
              label="Base price, dollars per gallon"
              inputMode="decimal"
              required
              value={period.base}
              onChange={(event) => onChange({ base: event.currentTarget.value })}
              error={wrong('base_price')}
            />
            <TextInput
              label="Miles per gallon"
              inputMode="decimal"
              required
              value={period.milesPerGallon}
              onChange={(event) => onChange({ milesPerGallon: event.currentTarget.value })}
              error={wrong('miles_per_gallon')}
            />
          </Group>
        )}
        {onRemove !== null && (
          <Group justify="flex-end">
            <Button size="xs" variant="default" onClick={onRemove}>
              Remove period {number}
            </Button>
          </Group>
        )}
      </Stack>
    </Fieldset>
  )
}

/** The table of steps as text, so that two columns of a spreadsheet can be pasted. */
function StepsField({
  index,
  period,
  error,
  onChange,
}: {
  index: number
  period: PeriodDraft
  error: CallFailed | null
  onChange: (next: Partial<PeriodDraft>) => void
}) {
  const start = `/periods/${index}/steps`
  const wrong = error?.errors.find(({ pointer }) => pointer === start || pointer?.startsWith(`${start}/`))
  const line = /\/steps\/(\d+)/.exec(wrong?.pointer ?? '')?.[1]
  return (
    <Textarea
      label="Steps"
      description="One step per line: the diesel price from which it applies, then the surcharge per mile, both in dollars."
      placeholder={'3.00 0.30\n3.50 0.35'}
      required
      autosize
      minRows={3}
      maxRows={16}
      value={period.steps}
      onChange={(event) => onChange({ steps: event.currentTarget.value })}
      error={
        wrong === undefined
          ? undefined
          : `${line === undefined ? '' : `Step ${Number(line) + 1}: `}${wrong.detail.replace(/^steps: |^periods\.\d+\.steps(\.\d+)?\.?/, '')}`
      }
    />
  )
}
