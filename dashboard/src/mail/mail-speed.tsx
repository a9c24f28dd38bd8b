import { Stack, Text } from '@mantine/core'
import { type Answer, useAnswer } from '../api/index.ts'
import { type Column, counted, DataTable, Figures, probability, Section } from '../shared-ui/index.ts'

type Speed = Answer<'get-mail-speed'>
type Measured = Speed['all']
type Row = { readonly name: string; readonly speed: Measured }

/** @example minutesInWords(95) // '1 h 35 min' */
export function minutesInWords(minutes: number | null): string {
  if (minutes === null) return '–'
  const whole = Math.round(minutes)
  if (whole < 60) return `${whole} min`
  if (whole < 48 * 60) return `${Math.floor(whole / 60)} h${whole % 60 === 0 ? '' : ` ${whole % 60} min`}`
  return counted(Math.round(whole / 1440), 'day')
}

const shareUnchanged = ({ answered, unchanged }: Measured) =>
  answered === 0 ? '–' : `${probability(unchanged / answered)} of ${counted(answered, 'answer')}`

/** How fast mails are quoted, by person and customer, and whether faster ones win. Nothing before the first quote of a mail. */
export function MailSpeed() {
  const { data } = useAnswer('get-mail-speed', {}, { staleMs: 60_000 })
  if (data === undefined || data.all.quoted === 0) return null
  const { all, people, customers, effect } = data
  return (
    <Section
      title="How fast we answer"
      hint="Mails of the last 90 days from which quotes were made. Nights and weekends count."
    >
      <Stack gap="md">
        <Figures
          label="Speed of mails"
          loading={false}
          figures={[
            {
              label: 'Mail to quote',
              value: minutesInWords(all.median_minutes),
              note: `Median of ${counted(all.quoted, 'mail')}`,
            },
            {
              label: 'Nine of ten within',
              value: minutesInWords(all.ninth_tenth_minutes),
              note: 'From the mail to its quote',
            },
            { label: 'Draft sent unchanged', value: shareUnchanged(all), note: 'Of the answers from here' },
          ]}
        />
        <Text size="sm">{effectInWords(effect)}</Text>
        <DataTable
          caption="Speed by person"
          columns={columnsOf('Person')}
          rows={people.map(({ user, speed }) => ({ name: user.name, speed }))}
          rowKey={({ name }) => name}
        />
        {customers.length > 0 && (
          <DataTable
            caption="Speed by customer"
            columns={columnsOf('Customer')}
            rows={customers.map(({ customer, speed }) => ({ name: customer, speed }))}
            rowKey={({ name }) => name}
          />
        )}
      </Stack>
    </Section>
  )
}

/** @example effectInWords(null) // 'Too few decided quotes to say whether faster answers win more.' */
export function effectInWords(effect: Speed['effect']): string {
  if (effect === null) return 'Too few decided quotes to say whether faster answers win more.'
  const { within_minutes: within, fast, slow, low, high, evidence } = effect
  const rates = `Within ${minutesInWords(within)} you won ${fast.won} of ${fast.decided}, later ${slow.won} of ${slow.decided}`
  const points = (share: number) => `${Math.round(100 * share)}`
  const range = `The difference is between ${points(low)} and ${points(high)} points in 19 of 20 cases`
  switch (evidence) {
    case 'fast-wins-more':
      return `Faster answers win more. ${rates}. ${range}. Easy quotes may be both fast and won.`
    case 'slow-wins-more':
      return `Slower answers win more. ${rates}. ${range}.`
    case 'none':
      return `No evidence that faster answers win more. ${rates}. ${range}.`
  }
}

const columnsOf = (header: string): Column<Row>[] => [
  { key: 'name', header, wraps: true, cell: ({ name }) => name },
  { key: 'quoted', header: 'Mails', cell: ({ speed }) => speed.quoted },
  { key: 'median', header: 'Median', cell: ({ speed }) => minutesInWords(speed.median_minutes) },
  {
    key: 'ninth',
    header: 'Nine of ten within',
    cell: ({ speed }) => minutesInWords(speed.ninth_tenth_minutes),
  },
  { key: 'unchanged', header: 'Draft unchanged', wraps: true, cell: ({ speed }) => shareUnchanged(speed) },
]
