import { Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { EXCHANGE_RATE_DAYS_MAX } from '#engine/exchange-days.ts'
import { useAnswer, useChange } from '../api/index.ts'
import {
  calendarDay,
  counted,
  DataTable,
  Failed,
  FileForm,
  IntegrationSection,
  Loading,
} from '../shared-ui/index.ts'

const inDollars = (rate: number) => `$${rate.toFixed(4)}`

/** The newest exchange rates of the Canadian dollar, and for admins the form that loads a file. */
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
    <IntegrationSection
      title="Canadian dollars"
      hint={`Amounts in Canadian dollars are kept out of statistics, except on days with an exchange rate. A rate applies until the next one, for at most ${EXCHANGE_RATE_DAYS_MAX} days.`}
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
      {mayChange && <ExchangeFile />}
    </IntegrationSection>
  )
}

/** Loads a file of exchange rates. A file with an unreadable line stores nothing, and each such line is named. */
function ExchangeFile() {
  const [file, setFile] = useState<File | null>(null)
  const load = useChange('add-exchange-rates')
  const queries = useQueryClient()
  const send = async () => {
    if (file === null) return
    load.mutate({ body: { text: await file.text() } }, { onSuccess: () => void queries.invalidateQueries() })
  }
  const loaded = load.data
  return (
    <FileForm
      label="Load exchange rates"
      titleOrder={3}
      hint="A CSV file with the columns date and usd_per_cad, or the download of FXCADUSD or FXUSDCAD from the Bank of Canada. Days that are stored get the rate of the file."
      fileLabel="File of exchange rates"
      accept=".csv,.txt,text/csv,text/plain"
      file={file}
      onFile={(next) => {
        load.reset()
        setFile(next)
      }}
      error={load.error}
      errorTitle="Nothing was stored"
      pending={load.isPending}
      action="Load the file"
      onSend={() => void send()}
      result={
        loaded !== undefined && (
          <Text size="sm" role="status">
            {counted(loaded.days, 'day')} read, from {calendarDay(loaded.first.day)} to{' '}
            {calendarDay(loaded.last.day)} ({inDollars(loaded.last.usd_per_cad)}).{' '}
            {loaded.changed === 0
              ? 'All were stored before.'
              : `${counted(loaded.changed, 'day')} new or with another rate.`}
          </Text>
        )
      }
    />
  )
}
