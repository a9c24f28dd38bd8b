import { Button, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { type Answer, useAnswer, useChange, useMay } from '../api/index.ts'
import {
  type AddressParams,
  ageInWords,
  basisName,
  type Column,
  ConfirmChange,
  count,
  counted,
  DataTable,
  day,
  Failed,
  Loading,
  laneName,
  marketScopeName,
  Nothing,
  roundDollars,
} from '../shared-ui/index.ts'
import { AddRate } from './market-add.tsx'
import { RateFile } from './market-file.tsx'

type Listed = Answer<'list-market-rates'>
type Source = Listed['sources'][number]
type Rate = Listed['rates'][number]

/** The sources of market rates, which an admin can erase, entry by hand and by file, and the newest rates. */
export function MarketRates({ search }: { search: AddressParams }) {
  const mayAdd = useMay('member')
  const answer = useAnswer('list-market-rates', { query: {} })
  if (answer.isError) {
    return (
      <Failed
        error={answer.error}
        title="The market rates could not be loaded"
        retry={() => void answer.refetch()}
      />
    )
  }
  return (
    <Stack gap="lg">
      {mayAdd && (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <AddRate search={search} />
          <RateFile />
        </SimpleGrid>
      )}
      {answer.isPending ? (
        <Loading label="Loading the market rates" rows={6} height={44} />
      ) : answer.data.sources.length === 0 ? (
        <Nothing title="No market rates yet">
          Enter one by hand, load a file, or send them with POST /api/integrations/market-rates.
        </Nothing>
      ) : (
        <>
          <Sources sources={answer.data.sources} />
          <Title order={2} size="h4">
            Newest rates
          </Title>
          <DataTable
            caption="Newest market rates"
            columns={rateColumns}
            rows={answer.data.rates}
            rowKey={(rate) => JSON.stringify(rate)}
          />
        </>
      )}
    </Stack>
  )
}

const states: Readonly<Record<Rate['state'], string>> = {
  usable: 'Valid',
  stale: 'Too old',
  other_basis: 'Not compared: your rates are on the other basis',
  other_currency: 'Not compared: not in US dollars',
  future: 'Not valid yet',
}

/** @example inCurrency(2600, 'CAD') // '$2,600 CAD' */
const inCurrency = (amount: number | null, currency: string) =>
  currency === 'USD' ? roundDollars(amount) : `${roundDollars(amount)} ${currency}`

const rateColumns: readonly Column<Rate>[] = [
  {
    key: 'lane',
    header: 'Lane or area',
    wraps: true,
    cell: ({ origin, destination, scope, equipment }) => (
      <>
        {laneName(origin, destination)}
        <Text size="xs" c="dimmed">
          {marketScopeName(scope)}, {equipment}
        </Text>
      </>
    ),
  },
  {
    key: 'rate',
    header: 'Rate per load',
    align: 'right',
    cell: ({ low, mid, high, currency }) => (
      <>
        {inCurrency(mid, currency)}
        <Text size="xs" c="dimmed">
          {low === null && high === null ? '' : `${roundDollars(low)} to ${inCurrency(high, currency)}`}
        </Text>
      </>
    ),
  },
  {
    key: 'basis',
    header: 'Basis and kind',
    cell: ({ basis, kind, currency, fuel, compared, converted_by: how }) => (
      <>
        {basisName(basis)}, {kind}
        <Text size="xs" c="dimmed">
          {fuel === null ? '' : `fuel ${inCurrency(fuel, currency)}`}
          {how === null ? '' : `${fuel === null ? '' : '; '}compared as ${roundDollars(compared)}`}
        </Text>
      </>
    ),
  },
  {
    key: 'loads',
    header: 'Loads',
    align: 'right',
    cell: ({ sample }) => (sample === null ? '–' : count(sample)),
  },
  {
    key: 'source',
    header: 'Source',
    cell: ({ source, as_of: asOf, age_days: age }) => (
      <>
        {source}
        <Text size="xs" c="dimmed">
          {day(asOf)}, {ageInWords(age)}
        </Text>
      </>
    ),
  },
  {
    key: 'state',
    header: 'State',
    wraps: true,
    cell: ({ state, valid_until: until }) => (
      <>
        {states[state]}
        {until !== null && (
          <Text size="xs" c="dimmed">
            valid until {day(until)}
          </Text>
        )}
      </>
    ),
  },
]

function Sources({ sources }: { sources: readonly Source[] }) {
  const mayErase = useMay('admin')
  const [erasing, setErasing] = useState<Source | null>(null)
  const columns: readonly Column<Source>[] = [
    { key: 'source', header: 'Source', wraps: true, cell: ({ source }) => source },
    { key: 'rates', header: 'Rates', align: 'right', cell: ({ rates }) => count(rates) },
    {
      key: 'dates',
      header: 'Dated',
      cell: (one) => `${day(one.oldest_as_of)} to ${day(one.newest_as_of)}`,
    },
    ...(mayErase
      ? [
          {
            key: 'erase',
            header: 'Erase',
            cell: (one: Source) => (
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => setErasing(one)}
                aria-label={`Erase all rates of ${one.source}`}
              >
                Erase all
              </Button>
            ),
          },
        ]
      : []),
  ]
  return (
    <>
      <Title order={2} size="h4">
        Sources
      </Title>
      <DataTable
        caption="Sources of market rates"
        columns={columns}
        rows={sources}
        rowKey={({ source }) => source}
      />
      <EraseSource source={erasing} close={() => setErasing(null)} />
    </>
  )
}

function EraseSource({ source, close }: { source: Source | null; close: () => void }) {
  return (
    <ConfirmChange
      call={useChange('erase-market-source')}
      sent={source && { params: { source: source.source } }}
      said={({ erased }) => `${counted(erased, 'market rate')} of ${source?.source} erased.`}
      close={close}
      title={`Erase all rates of ${source?.source ?? ''}?`}
      action={`Erase ${counted(source?.rates ?? 0, 'rate')}`}
    >
      <Text size="sm">
        This cannot be undone. Advice and comparisons stop using these rates at once. The audit log says who
        erased how many, and no rate.
      </Text>
    </ConfirmChange>
  )
}
