import { Button, Group, Stack, Text } from '@mantine/core'
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
  FollowButton,
  Loading,
  MonthCharts,
  Nothing,
  Page,
  RateTypeFilter,
  rateTypeAsked,
  Section,
  TextLink,
  useAddress,
} from '../shared-ui/index.ts'
import { CustomerFigures } from './customer-figures.tsx'
import { CustomerNames } from './customer-names.tsx'
import type { CustomerRecord, OfType } from './customer-record.ts'
import { CustomerRows } from './customer-rows.tsx'
import { CustomerTerms } from './customer-terms.tsx'
import { customerTermsInWords } from './customer-words.ts'

/** The page of one customer: its figures, terms, months and lanes, of spot, contract or both. `name` is any of its names. */
export function CustomerPage({ name }: { name: string }) {
  const { search, change } = useAddress(pagePaths.customers)
  const ofType = rateTypeAsked(search)
  const { data, error, isPlaceholderData, refetch } = useAnswer(
    'get-customer',
    { query: { name, ...ofType } },
    { keeps: true },
  )
  return (
    <Page
      title={data?.name ?? name}
      hint={data === undefined ? undefined : <Hint customer={data} asked={name} />}
      actions={
        <>
          {data !== undefined && (
            <FollowButton what="this customer" followed={{ kind: 'customer', customer_name: data.name }} />
          )}
          <ButtonLink
            to={pagePaths.quotes}
            query={{ customer: data?.name ?? name, ...ofType }}
            variant="default"
          >
            All quotes
          </ButtonLink>
          <ButtonLink to={pagePaths.customers} query={ofType} variant="default">
            All customers
          </ButtonLink>
        </>
      }
    >
      {data !== undefined ? (
        <>
          <Group>
            <RateTypeFilter search={search} change={change} />
          </Group>
          <Stack gap="lg" style={{ opacity: isPlaceholderData ? 0.6 : 1 }}>
            <Record customer={data} ofType={ofType} />
          </Stack>
        </>
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
    customer.last_quoted_at === null
      ? 'no quotes yet'
      : `all quotes so far, the last on ${day(customer.last_quoted_at)}`,
    // A link with a merged name leads here.
    customerKey(asked) === customerKey(customer.name) ? '' : `${asked} counts for this customer`,
  ]
  const words = parts.filter((part) => part !== '').join(' · ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function Record({ customer, ofType }: { customer: CustomerRecord; ofType: OfType }) {
  const { name, months, lanes, lanes_total } = customer
  return (
    <>
      <CustomerFigures customer={customer} ofType={ofType} />
      <BasisNote basis={customer.basis} />
      <CustomerTerms customer={customer} />
      <CustomerNames customer={customer} />
      <Months name={name} months={months} ofType={ofType} />
      <Section
        title="Lanes"
        hint={lanes_total > lanes.length ? `The ${lanes.length} most quoted of ${lanes_total} lanes.` : null}
        aside={
          <ExportLink
            href={addressOfCall('export-performance', { by: 'lane', customer: name, ...ofType })}
            isEmpty={lanes_total === 0}
          />
        }
      >
        {lanes.length === 0 ? (
          <Text size="sm">No lanes yet.</Text>
        ) : (
          <CustomerRows by="lane" name={name} ofType={ofType} rows={lanes} />
        )}
      </Section>
    </>
  )
}

/** The months that the table has at first. The charts have all. */
const monthsShown = 6

function Months({ name, months, ofType }: Pick<CustomerRecord, 'name' | 'months'> & { ofType: OfType }) {
  const [isAll, setAll] = useState(false)
  return (
    <Section title="By month">
      {months.length > 1 && <MonthCharts rows={months} />}
      {months.length === 0 ? (
        <Text size="sm">No quotes yet.</Text>
      ) : (
        <CustomerRows
          by="month"
          name={name}
          ofType={ofType}
          rows={isAll ? months : months.slice(0, monthsShown)}
        />
      )}
      {!isAll && months.length > monthsShown && (
        <Button variant="default" size="xs" style={{ alignSelf: 'start' }} onClick={() => setAll(true)}>
          Show all {months.length} months
        </Button>
      )}
    </Section>
  )
}
