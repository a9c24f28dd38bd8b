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
import type { GetInputPropsReturnType } from '@mantine/form'
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
  const whose = (customer: string) => (owner.kind === 'brokerage' ? 'your brokerage' : customer.trim())
  const { form, submit, input, pending } = useSentForm(save, {
    fields: {
      customer_name: owner.kind === 'customer' ? owner.name : '',
      periods: stored.length === 0 ? [emptyPeriod()] : stored.map(draftOf),
    },
    send: ({ customer_name: customer, periods }) => ({
      body: {
        ...(owner.kind === 'brokerage' ? {} : { customer_name: customer.trim() }),
        periods: periods.map(sentPeriod),
      },
    }),
    said: ({ customer_name: customer }) => `The schedule of ${whose(customer)} is saved.`,
    done: close,
  })
  const { customer_name: customer, periods } = form.values
  const title =
    owner.kind === 'new customer' ? 'Add the schedule of a customer' : `The schedule of ${whose(customer)}`
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit} aria-label={title} noValidate>
      <Stack gap="sm">
        <Title order={3} size="h5">
          {title}
        </Title>
        {owner.kind === 'new customer' && (
          <CustomerInput label="Customer" {...input('customer_name')} value={customer} />
        )}
        {periods.map((period, index) => (
          <PeriodFields
            key={period.key}
            index={index}
            period={period}
            error={save.error}
            input={(field) => input(`periods.${index}.${field}`)}
            onRemove={
              periods.length === 1
                ? null
                : () => {
                    // The errors name periods by their position.
                    save.reset()
                    form.removeListItem('periods', index)
                  }
            }
          />
        ))}
        {save.error !== null && <NotSaved error={save.error} />}
        <Group justify="space-between">
          <Button
            variant="default"
            disabled={periods.length >= fuelPeriodsMax}
            onClick={() => form.insertListItem('periods', emptyPeriod())}
          >
            Add a period
          </Button>
          <Group gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={pending}>
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

type PeriodInput = (field: keyof PeriodDraft) => GetInputPropsReturnType

function PeriodFields({
  index,
  period,
  error,
  input,
  onRemove,
}: {
  index: number
  period: PeriodDraft
  error: CallFailed | null
  input: PeriodInput
  onRemove: (() => void) | null
}) {
  const number = index + 1
  /** The message for a field, which has the field's label and needs no name of the API. */
  const wrong = (member: string) =>
    error?.fieldError(`/periods/${index}/${member}`)?.replace(new RegExp(`^${member}: `), '')
  return (
    <Fieldset legend={`Period ${number}`}>
      <Stack gap="sm">
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <TextInput label="First day" type="date" required {...input('from')} error={wrong('from')} />
          <TextInput label="Last day, if it ends" type="date" {...input('until')} error={wrong('until')} />
        </Group>
        <NativeSelect
          label="The surcharge per mile follows"
          {...input('kind')}
          data={[
            { value: 'miles_per_gallon', label: 'a base price and miles per gallon' },
            { value: 'steps', label: 'a table of steps' },
          ]}
        />
        {period.kind === 'steps' ? (
          <StepsField index={index} error={error} input={input} />
        ) : (
          <Group grow align="flex-start" preventGrowOverflow={false}>
            <TextInput
              label="Base price, dollars per gallon"
              inputMode="decimal"
              required
              {...input('base')}
              error={wrong('base_price')}
            />
            <TextInput
              label="Miles per gallon"
              inputMode="decimal"
              required
              {...input('milesPerGallon')}
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
  error,
  input,
}: {
  index: number
  error: CallFailed | null
  input: PeriodInput
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
      {...input('steps')}
      error={
        wrong === undefined
          ? undefined
          : `${line === undefined ? '' : `Step ${Number(line) + 1}: `}${wrong.detail.replace(/^steps: |^periods\.\d+\.steps(\.\d+)?\.?/, '')}`
      }
    />
  )
}
