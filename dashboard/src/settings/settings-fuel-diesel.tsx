import { Text } from '@mantine/core'
import { DIESEL_PRICE_DAYS_MAX } from '#engine/fuel-surcharge.ts'
import { type Answer, useChange } from '../api/index.ts'
import { ageInWords, calendarDay, DataTable, Heed, Section } from '../shared-ui/index.ts'
import { DatedFile } from './settings-fuel-file.tsx'
import { milled } from './settings-fuel-words.ts'

const dayMs = 86_400_000
/** Whole days from a survey's Monday to today, both in UTC, as the service compares them. */
const daysSince = (week: string) => Math.floor(Date.now() / dayMs) - Math.floor(Date.parse(week) / dayMs)

/** The newest diesel prices with their age, and for admins the form that loads a file. */
export function DieselPrices({ fuel, mayChange }: { fuel: Answer<'get-fuel'>; mayChange: boolean }) {
  const newest = fuel.diesel
  const age = newest === null ? null : daysSince(newest.week)
  return (
    <Section
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
    </Section>
  )
}

function DieselFile() {
  const load = useChange('load-diesel-prices')
  return (
    <DatedFile
      load={load}
      send={(file, then) => load.mutate({ body: file }, then)}
      label="Load diesel prices from a file"
      hint='Rows of the API of the EIA, its Excel file saved as .xlsx, its sheet "Data 1" saved as CSV, or the download of the series page. A week that was loaded before gets the price of the file.'
      fileLabel="File of the EIA"
      unit="week"
      value="price"
      loaded={
        load.data === undefined
          ? undefined
          : {
              count: load.data.weeks,
              changed: load.data.changed,
              first: load.data.first.week,
              last: load.data.last.week,
              lastValue: milled(load.data.last.price),
            }
      }
    />
  )
}
