import { Text } from '@mantine/core'
import { EXCHANGE_RATE_DAYS_MAX } from '#engine/exchange-days.ts'
import { useAnswer, useChange } from '../api/index.ts'
import { calendarDay, DataTable, ExchangeRateForm, Failed, Loading, Section } from '../shared-ui/index.ts'
import { DatedFile } from './settings-fuel-file.tsx'

const inDollars = (rate: number) => `$${rate.toFixed(4)}`

/** The newest exchange rates of the Canadian dollar, and for admins the form that enters one and the form that loads a file. */
export function ExchangeRates({ mayChange }: { mayChange: boolean }) {
  const stored = useAnswer('list-exchange-rates', {}, { comesBack: true })
  if (stored.data === undefined) {
    return stored.error === null ? (
      <Loading label="Loading exchange rates" height={10} />
    ) : (
      <Failed error={stored.error} retry={() => void stored.refetch()} />
    )
  }
  const { rates } = stored.data
  return (
    <Section
      title="Canadian dollars"
      hint={`Statistics leave out amounts in Canadian dollars, except on days with an exchange rate. It applies until the next one, for at most ${EXCHANGE_RATE_DAYS_MAX} days.`}
    >
      {rates.length === 0 && <Text size="sm">No exchange rates are entered.</Text>}
      {rates.length > 0 && (
        <DataTable
          caption="Newest exchange rates"
          columns={[
            { key: 'day', header: 'From', cell: ({ day }) => calendarDay(day) },
            {
              key: 'rate',
              header: 'US per Canadian dollar',
              align: 'right',
              cell: ({ usd_per_cad }) => inDollars(usd_per_cad),
            },
          ]}
          rows={rates.slice(0, 8)}
          rowKey={({ day }) => day}
        />
      )}
      {mayChange && (
        <>
          <ExchangeRateForm />
          <ExchangeFile />
        </>
      )}
    </Section>
  )
}

function ExchangeFile() {
  const load = useChange('load-exchange-file')
  return (
    <DatedFile
      load={load}
      send={(file, then) => load.mutate({ body: file }, then)}
      label="Load exchange rates from a file"
      hint="A CSV or Excel file (.xlsx) with the columns date and usd_per_cad, or the download of FXCADUSD or FXUSDCAD from the Bank of Canada. A day that was loaded before gets the rate of the file."
      fileLabel="File of exchange rates"
      unit="day"
      value="rate"
      loaded={
        load.data === undefined
          ? undefined
          : {
              count: load.data.days,
              changed: load.data.changed,
              first: load.data.first.day,
              last: load.data.last.day,
              lastValue: inDollars(load.data.last.usd_per_cad),
            }
      }
    />
  )
}
