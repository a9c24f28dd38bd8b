import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { customerKey } from '#engine/customer-name.ts'
import { addressOfCall, useAnswer } from '../api/index.ts'
import {
  BasisNote,
  ButtonLink,
  day,
  ExportLink,
  Failed,
  Loading,
  MonthCharts,
  Nothing,
  Page,
  Section,
  TextLink,
} from '../shared-ui/index.ts'
import { CustomerFigures } from './customer-figures.tsx'
import { CustomerNames } from './customer-names.tsx'
import type { CustomerRecord } from './customer-record.ts'
import { CustomerRows } from './customer-rows.tsx'
import { CustomerTerms } from './customer-terms.tsx'
import { customerTermsInWords } from './customer-words.ts'

/** The page of one customer: its figures, terms, months and lanes. `name` is any of its names. */
export function CustomerPage({ name }: { name: string }) {
  const { data, error, refetch } = useAnswer('get-customer', { query: { name } })
  return (
    <Page
      title={data?.name ?? name}
      hint={data === undefined ? undefined : <Hint customer={data} asked={name} />}
      actions={
        <>
          <ButtonLink to={pagePaths.quotes} query={{ customer: data?.name ?? name }} variant="default">
            All quotes
          </ButtonLink>
          <ButtonLink to={pagePaths.customers} variant="default">
            All customers
          </ButtonLink>
        </>
      }
    >
      {data !== undefined ? (
        <Record customer={data} />
      ) : error === null ? (
        <Loading label="Loading the customer" rows={8} height={48} />
      ) : error.code === 'not-found' ? (
        <Nothing title="No such customer">
          No quote that you can see is for {name}, and nothing is set for it.{' '}
          <TextLink to={pagePaths.customers} query={{ q: name }}>
            Search the customers
          </TextLink>
        </Nothing>
      ) : (
        <Failed error={error} title="The customer could not be loaded" retry={() => void refetch()} />
      )}
    </Page>
  )
}

function Hint({ customer, asked }: { customer: CustomerRecord; asked: string }) {
  const parts = [
    customerTermsInWords(customer),
    customer.last_quoted_at === null ? 'no quotes yet' : `last quoted ${day(customer.last_quoted_at)}`,
    // A link with a merged name opens this page.
    customerKey(asked) === customerKey(customer.name) ? '' : `${asked} counts for this customer`,
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

function Record({ customer }: { customer: CustomerRecord }) {
  const { name, months, lanes, lanes_total } = customer
  return (
    <>
      <CustomerFigures customer={customer} />
      <BasisNote basis={customer.basis} />
      <CustomerTerms customer={customer} />
      <CustomerNames customer={customer} />
      <Months name={name} months={months} />
      <Section
        title="Lanes"
        hint={lanes_total > lanes.length ? `The ${lanes.length} most quoted of ${lanes_total} lanes.` : null}
        aside={
          <ExportLink
            href={addressOfCall('export-performance', { by: 'lane', customer: name })}
            isEmpty={lanes_total === 0}
          />
        }
      >
        {lanes.length === 0 ? (
          <Text size="sm">No lanes yet.</Text>
        ) : (
          <CustomerRows by="lane" name={name} rows={lanes} />
        )}
      </Section>
    </>
  )
}

/** The months that the table shows at first. The charts show all months. */
const monthsShown = 6

function Months({ name, months }: Pick<CustomerRecord, 'name' | 'months'>) {
  const [isAll, setAll] = useState(false)
  return (
    <Section title="By month">
      {months.length > 1 && <MonthCharts rows={months} />}
      {months.length === 0 ? (
        <Text size="sm">No quotes yet.</Text>
      ) : (
        <CustomerRows by="month" name={name} rows={isAll ? months : months.slice(0, monthsShown)} />
      )}
      {!isAll && months.length > monthsShown && (
        <Button variant="default" size="xs" style={{ alignSelf: 'start' }} onClick={() => setAll(true)}>
          Show all {months.length} months
        </Button>
      )}
    </Section>
  )
}
