import { Button, Group, NativeSelect, Paper, SimpleGrid, Stack, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type Body, useChange } from '../api/index.ts'
import { type AddressParams, EquipmentInput, Failed, readDollars, useNotice } from '../shared-ui/index.ts'

type Sent = Body<'add-market-rates'>['rates'][number]

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
  const [fields, setFields] = useState(() => startOf(search))
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({})
  const add = useChange('add-market-rates')
  const queries = useQueryClient()
  const notify = useNotice()
  const set = (name: keyof Fields) => (value: string) => setFields((before) => ({ ...before, [name]: value }))
  const input = (name: keyof Fields) => ({
    value: fields[name],
    onChange: (event: { currentTarget: { value: string } }) => set(name)(event.currentTarget.value),
    error: wrong[name],
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setWrong({})
    add.mutate(
      { body: { rates: [rateOf(fields)] } },
      {
        onSuccess: ({ results: [result] }) => {
          if (result === undefined) return
          if (result.status !== 200) {
            const errors = 'errors' in result ? (result.errors ?? []) : []
            setWrong(Object.fromEntries(errors.map(({ pointer, detail }) => [pointer.slice(1), detail])))
            return
          }
          void queries.invalidateQueries()
          notify(`The market rate from ${result.origin} to ${result.destination} is saved.`)
          setFields((before) => ({ ...before, low: '', mid: '', high: '', sample: '' }))
        },
      },
    )
  }
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
          <EquipmentInput
            label="Equipment"
            value={fields.equipment}
            onChange={set('equipment')}
            error={wrong.equipment}
          />
          <NativeSelect label="Basis" {...input('basis')} data={basisChoices} />
          <NativeSelect label="Kind" {...input('kind')} data={kindChoices} />
          <NativeSelect label="Currency" {...input('currency')} data={['USD', 'CAD', 'MXN']} />
          <TextInput label="Source" required placeholder="DAT" {...input('source')} />
        </SimpleGrid>
        <RateFields input={input} />
        {add.error !== null && <Failed error={add.error} title="The rate was not saved" />}
        <Group justify="flex-end">
          <Button type="submit" loading={add.isPending}>
            Save the rate
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}

type Input = (name: keyof Fields) => {
  readonly value: string
  readonly onChange: (event: { currentTarget: { value: string } }) => void
  readonly error: string | undefined
}

/** The fields for amounts and dates. A phone has two in a row, because dates do not fit in a third. */
function RateFields({ input }: { input: Input }) {
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
