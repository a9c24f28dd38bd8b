import { Group, NativeSelect, Stack, Text } from '@mantine/core'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, addressOfCall, type Query, useAnswer } from '../api/index.ts'
import {
  type AddressParams,
  BasisNote,
  type Column,
  CustomerLink,
  count,
  countedQuotes,
  DataTable,
  day,
  ExportLink,
  exactMoment,
  Failed,
  FilterRow,
  Loading,
  Margin,
  MarginPct,
  Nothing,
  Page,
  PageTurner,
  RateTypeFilter,
  requestedRateType,
  SearchFilter,
  TextLink,
  useAddress,
  ViewTabs,
  WinRate,
} from '../shared-ui/index.ts'
import { customerTermsInWords } from './customer-words.ts'
import { CustomerVariants } from './customers-variants.tsx'

type Customer = Answer<'list-customers'>['customers'][number]
type Order = Required<Pick<Query<'list-customers'>, 'sort' | 'order'>>

/** The labels of the orders, by their names in the address: a column in descending order, or with `.asc` in ascending order. */
const orderNames = {
  quotes: 'Most quotes',
  'quotes.asc': 'Fewest quotes',
  win_rate: 'Highest win rate',
  'win_rate.asc': 'Lowest win rate',
  margin: 'Highest margin',
  'margin.asc': 'Lowest margin',
  margin_pct: 'Highest margin %',
  'margin_pct.asc': 'Lowest margin %',
  last_quoted: 'Quoted last',
  'last_quoted.asc': 'Not quoted for longest',
} as const
type OrderName = keyof typeof orderNames

function orderOf(search: AddressParams): { name: OrderName; order: Order } {
  const name = Object.hasOwn(orderNames, search.order ?? '') ? (search.order as OrderName) : 'quotes'
  const [sort, direction] = name.split('.') as [Order['sort'], 'asc' | undefined]
  return { name, order: { sort, order: direction ?? 'desc' } }
}

const views = { all: 'All customers', variants: 'Similar names' } as const

/** All customers with their figures, and the names that probably mean the same customer. */
export function CustomersList() {
  const { search, change } = useAddress(pagePaths.customers)
  const view = search.view === 'variants' ? 'variants' : 'all'
  return (
    <Page
      title="Customers"
      hint="Names that differ only in case and spaces are one customer. Numbers are of all time."
    >
      <ViewTabs
        names={views}
        view={view}
        onView={(next) => change({ view: next === 'variants' ? next : undefined })}
      >
        {view === 'variants' ? <CustomerVariants /> : <AllCustomers search={search} change={change} />}
      </ViewTabs>
    </Page>
  )
}

function AllCustomers({ search, change }: ReturnType<typeof useAddress>) {
  const { name: orderName, order } = orderOf(search)
  const q = search.q?.trim() ?? ''
  const asked = { ...(q === '' ? {} : { q }), ...requestedRateType(search), ...order }
  const { cursor } = search
  const { data, error, isPlaceholderData, refetch } = useAnswer(
    'list-customers',
    { query: { ...asked, ...(cursor === undefined ? {} : { cursor }) } },
    { keeps: true },
  )
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-end" gap="sm">
        <div style={{ flexGrow: 1 }}>
          <FilterRow label="Filters">
            <SearchFilter search={search} change={change} error={error} />
            <RateTypeFilter search={search} change={change} />
            <NativeSelect
              label="Order"
              value={orderName}
              onChange={(event) => change({ order: event.currentTarget.value })}
              data={Object.entries(orderNames).map(([value, label]) => ({ value, label }))}
            />
          </FilterRow>
        </div>
        <ExportLink
          href={addressOfCall('export-customers', asked)}
          isEmpty={(data?.customers_total ?? 0) === 0}
        />
      </Group>
      {error !== null ? (
        <Failed error={error} title="The customers could not be loaded" retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading label="Loading the customers" rows={8} height={56} />
      ) : data.customers_total === 0 ? (
        <NoCustomers q={q} />
      ) : (
        <Stack gap="sm" style={{ opacity: isPlaceholderData ? 0.6 : 1 }}>
          <DataTable
            caption="Customers"
            columns={columns}
            rows={data.customers}
            rowKey={({ name }) => name}
            sort={orderName}
            onSort={(next) => change({ order: next })}
          />
          <PageTurner
            search={search}
            change={change}
            nextCursor={data.next_cursor}
            rows={data.customers.length}
            total={data.customers_total}
            one="customer"
          />
          <BasisNote basis={data.basis} />
          <Text component="p" size="sm" c="dimmed">
            Win rate = won quotes ÷ decided quotes (won and lost), with its 80% range. Margin = AR − AP of
            shipments where both are known.
          </Text>
        </Stack>
      )}
    </Stack>
  )
}

function NoCustomers({ q }: { q: string }) {
  if (q !== '') return <Nothing title={`No customer has “${q}” in its name`} />
  return (
    <Nothing title="No customers yet">
      A customer appears with its first quote. Quote a lane on the{' '}
      <TextLink to={pagePaths.desk}>quote desk</TextLink>, or{' '}
      <TextLink to={pagePaths.imports}>import</TextLink> past quotes.
    </Nothing>
  )
}

const columns: readonly Column<Customer>[] = [
  {
    key: 'name',
    header: 'Customer',
    wraps: true,
    cell: (customer) => {
      const { name, aliases } = customer
      const terms = customerTermsInWords(customer)
      return (
        <>
          <CustomerLink name={name} />
          {aliases.length > 0 && (
            <Text size="xs" c="dimmed">
              also {aliases.map((alias) => alias.name).join(', ')}
            </Text>
          )}
          {/* The values of the columns that a phone has no room for. */}
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            {terms === '' ? '' : `${terms} · `}
            <Margin amount={customer.margin} isRounded /> margin · quoted {day(customer.last_quoted_at)}
          </Text>
        </>
      )
    },
  },
  {
    key: 'tier',
    header: 'Tier and terms',
    from: 'sm',
    wraps: true,
    cell: (customer) => customerTermsInWords(customer) || '–',
  },
  {
    key: 'quotes',
    header: 'Quotes',
    align: 'right',
    sorts: ['quotes', 'quotes.asc'],
    cell: ({ name, quotes }) => (
      <TextLink
        to={pagePaths.quotes}
        query={countedQuotes({ customer: name })}
        label={`${count(quotes)} quotes of ${name}`}
      >
        {count(quotes)}
      </TextLink>
    ),
  },
  {
    key: 'win-rate',
    header: 'Win rate',
    wraps: true,
    sorts: ['win_rate', 'win_rate.asc'],
    cell: (customer) => <WinRate figures={customer} />,
  },
  {
    key: 'margin',
    header: 'Margin',
    align: 'right',
    from: 'sm',
    sorts: ['margin', 'margin.asc'],
    cell: ({ margin, margin_pct, shipments }) => (
      <>
        <Margin amount={margin} isRounded />
        <Text size="xs" c="dimmed">
          <MarginPct share={margin_pct} /> of {count(shipments)} shipped
        </Text>
      </>
    ),
  },
  {
    key: 'last',
    header: 'Last quote',
    from: 'sm',
    sorts: ['last_quoted', 'last_quoted.asc'],
    cell: ({ last_quoted_at }) => <span title={exactMoment(last_quoted_at)}>{day(last_quoted_at)}</span>,
  },
]
