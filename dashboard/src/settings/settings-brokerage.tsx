import { Button, Group, Radio, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type Answer, type Body, useChange } from '../api/index.ts'
import { Failed, type Method, methods, useNotice } from '../shared-ui/index.ts'

type Brokerage = Answer<'me'>['tenant']

const asText = (amount: number | null) => (amount === null ? '' : String(amount))

/** The brokerage's name, the way win_probability is counted, and the floors that recommended rates keep. */
export function BrokerageForm({ tenant, mayChange }: { tenant: Brokerage; mayChange: boolean }) {
  const [name, setName] = useState(tenant.name)
  const [method, setMethod] = useState<Method>(tenant.win_probability_method)
  const [floors, setFloors] = useState({
    margin_pct: asText(tenant.floors.margin_pct),
    margin: asText(tenant.floors.margin),
    rate_per_mile: asText(tenant.floors.rate_per_mile),
  })
  const [notNumbers, setNotNumbers] = useState<readonly string[]>([])
  const change = useChange('update-tenant')
  const queries = useQueryClient()
  const tell = useNotice()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // An empty floor is no floor, which the API writes as 0.
    const amounts = Object.entries(floors).map(([field, text]) => [
      field,
      Number(text.replaceAll(/[$,%\s]/g, '') || '0'),
    ])
    const wrong = amounts.flatMap(([field, amount]) => (Number.isNaN(amount) ? [String(field)] : []))
    setNotNumbers(wrong)
    if (wrong.length > 0) return
    const body: Body<'update-tenant'> = {
      name,
      win_probability_method: method,
      floors: Object.fromEntries(amounts),
    }
    change.mutate(
      { body },
      {
        onSuccess: () => {
          tell('The settings were saved.')
          void queries.invalidateQueries()
        },
      },
    )
  }
  const wrong = (field: string) =>
    notNumbers.includes(field)
      ? 'Write a number, or leave it empty for no floor.'
      : (change.error?.fieldError(`/floors/${field}`) ?? change.error?.fieldError(`/${field}`))
  const isOfAField = ['name', ...Object.keys(floors)].some((field) => wrong(field) !== undefined)
  const floor = (field: keyof typeof floors, label: string, unit: string) => (
    <TextInput
      label={label}
      inputMode="decimal"
      rightSection={<span aria-hidden>{unit}</span>}
      rightSectionWidth={48}
      value={floors[field]}
      onChange={(event) => {
        const { value } = event.currentTarget
        setFloors((all) => ({ ...all, [field]: value }))
      }}
      error={wrong(field)}
      disabled={!mayChange}
    />
  )
  return (
    <form onSubmit={submit}>
      <Stack maw={720}>
        <TextInput
          label="Name of the brokerage"
          maw={420}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={wrong('name')}
          disabled={!mayChange}
          required
        />
        <Group align="flex-start" grow preventGrowOverflow={false}>
          {floor('margin_pct', 'Least margin, % of the rate', '%')}
          {floor('margin', 'Least margin of a load, dollars', '$')}
          {floor('rate_per_mile', 'Least rate per loaded mile', '$/mi')}
        </Group>
        <Radio.Group
          label="How the interface counts win_probability"
          description="The calibrated estimate on the quote desk does not depend on it"
          value={method}
          onChange={(value) => setMethod(value as Method)}
        >
          <Stack gap="xs" mt="xs">
            {methods.map(({ value, label, description }) => (
              <Radio
                key={value}
                value={value}
                label={label}
                description={description}
                disabled={!mayChange}
              />
            ))}
          </Stack>
        </Radio.Group>
        {change.error !== null && !isOfAField && <Failed error={change.error} title="Nothing was saved" />}
        {mayChange && (
          <Button type="submit" loading={change.isPending} style={{ alignSelf: 'flex-start' }}>
            Save the settings
          </Button>
        )}
      </Stack>
    </form>
  )
}
