import { Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { DIESEL_PRICE_DAYS_MAX } from '#engine/fuel-surcharge.ts'
import { type Answer, useChange } from '../api/index.ts'
import {
  ageInWords,
  calendarDay,
  counted,
  DataTable,
  FileForm,
  Heed,
  IntegrationSection,
} from '../shared-ui/index.ts'
import { milled } from './settings-fuel-words.ts'

const dayMs = 86_400_000
/** Whole days from a survey's Monday to today, both in UTC, as the service compares them. */
const daysSince = (week: string) => Math.floor(Date.now() / dayMs) - Math.floor(Date.parse(week) / dayMs)

/** The newest diesel prices with their age, and for admins the form that loads a file. */
export function DieselPrices({ fuel, mayChange }: { fuel: Answer<'get-fuel'>; mayChange: boolean }) {
  const newest = fuel.diesel
  const age = newest === null ? null : daysSince(newest.week)
  return (
    <IntegrationSection
      title="Diesel prices"
      hint="The U.S. average retail price of No. 2 diesel, which the EIA surveys every Monday, in dollars per gallon."
    >
      {newest === null && <Text size="sm">No diesel prices are loaded.</Text>}
      {age !== null && age > DIESEL_PRICE_DAYS_MAX && (
        <Heed title={`The newest price is ${ageInWords(age)}`}>
          A price applies for at most {DIESEL_PRICE_DAYS_MAX} days. The surcharge of today is unknown until
          newer prices are loaded.
        </Heed>
      )}
      {fuel.newest_weeks.length > 0 && (
        <DataTable
          caption="Newest diesel prices"
          columns={[
            { key: 'week', header: 'Week of', cell: ({ week }) => calendarDay(week) },
            { key: 'price', header: 'Per gallon', align: 'right', cell: ({ price }) => milled(price) },
            { key: 'age', header: 'Age', align: 'right', cell: ({ week }) => ageInWords(daysSince(week)) },
          ]}
          rows={fuel.newest_weeks}
          rowKey={({ week }) => week}
        />
      )}
      {mayChange && <DieselFile />}
    </IntegrationSection>
  )
}

/** Loads a file of the EIA. A file with an unreadable line stores nothing, and each such line is named. */
function DieselFile() {
  const [file, setFile] = useState<File | null>(null)
  const load = useChange('load-diesel-prices')
  const queries = useQueryClient()
  const send = async () => {
    if (file === null) return
    load.mutate({ body: { text: await file.text() } }, { onSuccess: () => void queries.invalidateQueries() })
  }
  const loaded = load.data
  return (
    <FileForm
      label="Load diesel prices"
      titleOrder={3}
      hint='Rows of the API of the EIA, saved as CSV, the sheet "Data 1" of its Excel file saved as CSV, or the download of the series page. Weeks that are stored get the price of the file.'
      fileLabel="File of the EIA"
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
            {counted(loaded.weeks, 'week')} read, from {calendarDay(loaded.first.week)} to{' '}
            {calendarDay(loaded.last.week)} ({milled(loaded.last.price)}).{' '}
            {loaded.changed === 0
              ? 'All were stored before.'
              : `${counted(loaded.changed, 'week')} new or with another price.`}
          </Text>
        )
      }
    />
  )
}
