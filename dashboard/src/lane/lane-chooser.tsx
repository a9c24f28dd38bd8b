import { Button, Group } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, useAnswer } from '../api/index.ts'
import {
  ButtonLink,
  type Column,
  count,
  counted,
  DataTable,
  EquipmentInput,
  equipmentName,
  Failed,
  Loading,
  laneName,
  Margin,
  MarginPct,
  Nothing,
  PlaceInput,
  percent,
  Section,
  TextLink,
  useOnceSettled,
  useOwnAddress,
} from '../shared-ui/index.ts'

/** The form to look up a lane, prefilled from the address. */
export function LaneForm() {
  const asked = useSearch({ strict: false })
  const goOn = useOwnAddress(pagePaths.lane)
  const [origin, setOrigin] = useState(asked.origin ?? '')
  const [destination, setDestination] = useState(asked.destination ?? '')
  const [equipment, setEquipment] = useState(asked.equipment ?? '')
  const show = useOnceSettled(() =>
    goOn({ search: { origin: origin.trim(), destination: destination.trim(), equipment: equipment.trim() } }),
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    show()
  }
  return (
    <form onSubmit={submit} aria-label="Choose a lane">
      <Group align="flex-end" gap="sm">
        <PlaceInput
          label="Origin"
          value={origin}
          onChange={setOrigin}
          required
          w={{ base: '100%', xs: 220 }}
        />
        <PlaceInput
          label="Destination"
          value={destination}
          onChange={setDestination}
          required
          w={{ base: '100%', xs: 220 }}
        />
        <EquipmentInput
          label="Equipment"
          placeholder="All"
          value={equipment}
          onChange={setEquipment}
          w={{ base: '100%', xs: 120 }}
        />
        <Button type="submit">Show lane</Button>
      </Group>
    </form>
  )
}

const rowsMax = 20
const sortsOffered = ['quotes', 'win_rate', 'margin', 'margin_pct'] as const

type PerformanceRow = Answer<'get-performance'>['rows'][number]

const columns: readonly Column<PerformanceRow>[] = [
  {
    key: 'lane',
    header: 'Lane',
    wraps: true,
    cell: ({ label, lane }) =>
      lane === null ? (
        label
      ) : (
        <TextLink to={pagePaths.lane} query={lane}>
          {laneName(lane.origin, lane.destination)}
        </TextLink>
      ),
  },
  {
    key: 'equipment',
    header: 'Equipment',
    cell: ({ lane }) => (lane === null ? '–' : equipmentName(lane.equipment)),
  },
  {
    key: 'quotes',
    header: 'Quotes',
    align: 'right',
    sorts: ['quotes.desc', 'quotes.asc'],
    cell: ({ quotes }) => count(quotes),
  },
  {
    key: 'win-rate',
    header: 'Win rate',
    align: 'right',
    sorts: ['win_rate.desc', 'win_rate.asc'],
    cell: ({ win_rate_pct, won, decided }) =>
      win_rate_pct === null
        ? 'none decided'
        : `${percent(win_rate_pct)} · ${count(won)} of ${count(decided)}`,
  },
  {
    key: 'margin',
    header: 'Margin',
    align: 'right',
    sorts: ['margin.desc', 'margin.asc'],
    cell: ({ margin }) => <Margin amount={margin} isRounded />,
  },
  {
    key: 'margin-pct',
    header: 'Margin %',
    align: 'right',
    sorts: ['margin_pct.desc', 'margin_pct.asc'],
    cell: ({ margin_pct }) => <MarginPct share={margin_pct} />,
  },
  {
    key: 'shipments',
    header: 'Shipments',
    align: 'right',
    from: 'md',
    cell: ({ shipments }) => count(shipments),
  },
]

/** The brokerage's lanes with links to their pages, most quoted first. */
export function BusiestLanes() {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const [asked = '', askedOrder] = (search.sort ?? '').split('.')
  const sort = sortsOffered.find((one) => one === asked) ?? 'quotes'
  const order = askedOrder === 'asc' ? 'asc' : 'desc'
  const lanes = useAnswer(
    'get-performance',
    { query: { by: 'lane', sort, order, limit: rowsMax } },
    { keeps: true },
  )
  const total = lanes.data?.rows_total ?? 0
  return (
    <Section
      title={sort === 'quotes' && order === 'desc' ? 'Busiest lanes' : 'Your lanes'}
      hint={`${total > rowsMax ? `The first ${rowsMax} of ${counted(total, 'lane')}. ` : ''}Numbers are of all time.`}
      busy={lanes.isFetching}
    >
      {lanes.isPending ? (
        <Loading rows={12} height={30} label="Loading your lanes" />
      ) : lanes.isError ? (
        <Failed error={lanes.error} retry={() => void lanes.refetch()} />
      ) : lanes.data.rows.length === 0 ? (
        <Nothing
          title="No lanes yet"
          actions={
            <>
              <ButtonLink to={pagePaths.desk}>Make a quote</ButtonLink>
              <ButtonLink to={pagePaths.imports} variant="default">
                Import past quotes
              </ButtonLink>
            </>
          }
        >
          A lane appears here after its first quote.
        </Nothing>
      ) : (
        <DataTable
          caption="Your lanes"
          columns={columns}
          rows={lanes.data.rows}
          rowKey={({ key }) => key}
          sort={`${sort}.${order}`}
          onSort={(next) =>
            void navigate({ to: pagePaths.lane, search: { sort: next }, replace: true, resetScroll: false })
          }
        />
      )}
    </Section>
  )
}
