import { Button, Group, NativeSelect, Paper, SimpleGrid, Stack, TextInput, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type Answer, type Body, CallFailed, call } from '../api/index.ts'
import {
  type AddressParams,
  EquipmentInput,
  Failed,
  type FormInput,
  readDollars,
  useSentForm,
} from '../shared-ui/index.ts'

type Sent = Body<'add-market-rates'>['rates'][number]
type Saved = Extract<Answer<'add-market-rates'>['results'][number], { status: 200 }>

const scopes: Readonly<Record<NonNullable<Sent['scope']>, string>> = {
  lane: 'City pair',
  zip3: '3-digit ZIP areas, such as 752',
  market: 'Markets, by their principal city',
  state_pair: 'States',
  region: 'Regions, such as US-SC',
}

const today = () => new Date().toISOString().slice(0, 10)

function startOf(search: AddressParams) {
  return {
    scope: 'lane',
    origin: search.origin ?? '',
    destination: search.destination ?? '',
    equipment: search.equipment ?? 'V',
    basis: 'all_in',
    kind: 'buy',
    currency: 'USD',
    low: '',
    mid: '',
    high: '',
    fuel: '',
    sample: '',
    source: '',
    as_of: today(),
    valid_until: '',
  }
}
type Fields = ReturnType<typeof startOf>

/** The body of the form's request. A number that cannot be read is sent as text, so that the service names the field. */
function rateOf(fields: Fields): Sent {
  const amount = (text: string) => (text.trim() === '' ? undefined : (readDollars(text) ?? text))
  const sample = fields.sample.trim()
  const filled = Object.entries({
    ...fields,
    low: amount(fields.low),
    mid: amount(fields.mid),
    high: amount(fields.high),
    fuel: amount(fields.fuel),
    sample: sample === '' ? undefined : Number(sample.replaceAll(',', '')),
    valid_until: fields.valid_until === '' ? undefined : fields.valid_until,
  }).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries(filled) as unknown as Sent
}

/**
 * Saves a rate.
 *
 * @throws CallFailed with the errors of its fields
 */
async function addRate(rate: Sent): Promise<Saved> {
  const { results } = await call('add-market-rates', { body: { rates: [rate] } })
  const [result] = results
  if (result?.status === 200) return result
  throw new CallFailed('validation-failed', result?.detail ?? '', {
    status: 422,
    errors: result?.errors ?? [],
  })
}

const basisChoices = [
  { value: 'all_in', label: 'All-in: with fuel' },
  { value: 'linehaul', label: 'Linehaul: without fuel' },
]
const kindChoices = [
  { value: 'buy', label: 'What carriers are paid' },
  { value: 'sell', label: 'What customers pay' },
]

/** The form for one market rate. */
export function AddRate({ search }: { search: AddressParams }) {
  const add = useMutation<Saved, CallFailed, Sent>({ mutationFn: addRate })
  const { input, submit, failed, isPending } = useSentForm(add, {
    initial: startOf(search),
    sent: rateOf,
    saved: (_, { origin, destination }) => `The market rate from ${origin} to ${destination} is saved.`,
    clears: ['low', 'mid', 'high', 'sample'],
  })
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit} aria-label="Enter a market rate">
      <Stack gap="sm">
        <Title order={2} size="h4">
          Enter a market rate, in dollars per load
        </Title>
        <NativeSelect
          label="The rate covers"
          {...input('scope')}
          data={Object.entries(scopes).map(([value, label]) => ({ value, label }))}
        />
        <SimpleGrid cols={2} spacing="sm">
          <TextInput label="Origin" required {...input('origin')} />
          <TextInput label="Destination" required {...input('destination')} />
          <EquipmentInput label="Equipment" {...input('equipment')} />
          <NativeSelect label="Basis" {...input('basis')} data={basisChoices} />
          <NativeSelect label="Kind" {...input('kind')} data={kindChoices} />
          <NativeSelect label="Currency" {...input('currency')} data={['USD', 'CAD', 'MXN']} />
          <TextInput label="Source" required placeholder="DAT" {...input('source')} />
        </SimpleGrid>
        <RateFields input={input} />
        {failed && <Failed error={failed} title="The rate was not saved" />}
        <Group justify="flex-end">
          <Button type="submit" loading={isPending}>
            Save the rate
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}

/** The fields for amounts and dates. A phone has two in a row, because dates do not fit in a third. */
function RateFields({ input }: { input: (name: keyof Fields) => FormInput<string> }) {
  return (
    <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="sm">
      <TextInput label="Low" inputMode="decimal" {...input('low')} />
      <TextInput label="Rate" inputMode="decimal" required {...input('mid')} />
      <TextInput label="High" inputMode="decimal" {...input('high')} />
      <TextInput label="Fuel charge" inputMode="decimal" {...input('fuel')} />
      <TextInput label="Loads" inputMode="numeric" {...input('sample')} />
      <TextInput label="As of" type="date" required {...input('as_of')} />
      <TextInput label="Valid until" type="date" {...input('valid_until')} />
    </SimpleGrid>
  )
}
