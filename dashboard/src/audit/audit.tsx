import { Anchor, Button, Group, NativeSelect, Stack } from '@mantine/core'
import { auditGroups, auditKindsOf } from '#contract/audit-kinds.ts'
import { pagePaths } from '#contract/pages.ts'
import { addressOfCall, useAnswer, useMay } from '../api/index.ts'
import {
  ExportLink,
  Failed,
  FilterRow,
  isBackwards,
  Loading,
  Nothing,
  Page,
  PageTurner,
  type Period,
  PeriodInput,
  PersonFilter,
  RoleTooLow,
  shownZone,
  useAddress,
  usePeriod,
} from '../shared-ui/index.ts'
import { AuditProof, verificationId } from './audit-proof.tsx'
import { isFiltered, selectionOf, whatOf } from './audit-query.ts'
import { AuditTable } from './audit-table.tsx'
import { groupNames, kindNames } from './audit-words.ts'

const title = 'Audit log'
const noFilters = { what: '', who: '' }
const noPeriod = { period: 'all', from: '', to: '' }

/** The audit log for admins and owners: sign-ins, changes of people, credentials and settings, and rejected requests. */
export default function AuditPage() {
  const mayRead = useMay('admin')
  return mayRead ? (
    <AuditLog />
  ) : (
    <Page title={title}>
      <RoleTooLow>Only admins and owners can read the audit log.</RoleTooLow>
    </Page>
  )
}

function AuditLog() {
  const { search, change } = useAddress(pagePaths.audit)
  const period = usePeriod(search, 'all')
  const selection = selectionOf(search, period)
  const { cursor } = search
  const log = useAnswer(
    'list-audit-events',
    { query: { ...selection, ...(cursor === undefined ? {} : { cursor }) } },
    { keeps: true, enabled: !isBackwards(period) },
  )
  const { data, error } = log
  const isNarrowed = isFiltered(search) || period.choice !== 'all'
  const isWhole = cursor === undefined && data?.next_cursor === null
  return (
    <Page
      title={title}
      hint={
        <>
          Sign-ins, changes and rejected requests. Times are in {shownZone()}.{' '}
          <Anchor href={`#${verificationId}`} inherit>
            How to verify the log
          </Anchor>
        </>
      }
      actions={
        <ExportLink
          href={addressOfCall('export-audit-events', selection)}
          isEmpty={data === undefined || data.events.length === 0}
        />
      }
    >
      <Stack gap="sm">
        <FilterRow label="Choose events">
          <WhatFilter value={whatOf(search)} onChange={(what) => change({ what })} />
          <PersonFilter name="who" label="Person" search={search} change={change} />
          <PeriodInput period={period} query={search} onChange={change} label="Period" />
        </FilterRow>
        {isFiltered(search) && (
          <Group>
            <Button size="compact-sm" variant="subtle" onClick={() => change(noFilters)}>
              Clear filters
            </Button>
          </Group>
        )}
      </Stack>
      {error !== null ? (
        <Failed error={error} title="The audit log could not be loaded" retry={() => void log.refetch()} />
      ) : isBackwards(period) ? null : data === undefined ? (
        <Loading label="Loading the audit log" rows={10} height={58} />
      ) : (
        <>
          {data.events.length === 0 ? (
            <NoEvents
              period={period}
              isNarrowed={isNarrowed}
              onClear={() => change({ ...noFilters, ...noPeriod })}
            />
          ) : (
            <Stack gap="sm" style={{ opacity: log.isPlaceholderData ? 0.6 : 1 }}>
              <AuditTable events={data.events} search={search} />
              <PageTurner
                search={search}
                change={change}
                nextCursor={data.next_cursor}
                rows={data.events.length}
                total={isWhole ? data.events.length : isNarrowed ? null : (data.newest?.event_id ?? null)}
                one="event"
              />
            </Stack>
          )}
          {data.newest !== null && <AuditProof newest={data.newest} />}
        </>
      )}
    </Page>
  )
}

function WhatFilter({ value, onChange }: { value: string; onChange: (what: string) => void }) {
  return (
    <NativeSelect
      label="What happened"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={[
        { value: '', label: 'Everything' },
        ...['refusals' as const, ...auditGroups.filter((group) => group !== 'refusals')].map((group) => ({
          group: groupNames[group],
          items: [
            { value: group, label: `${groupNames[group]}: all` },
            ...auditKindsOf[group].map((kind) => ({ value: kind, label: kindNames[kind] })),
          ],
        })),
      ]}
    />
  )
}

function NoEvents({
  period,
  isNarrowed,
  onClear,
}: {
  period: Period
  isNarrowed: boolean
  onClear: () => void
}) {
  if (!isNarrowed) return <Nothing title="No events yet" />
  return (
    <Nothing
      title={period.choice === 'all' ? 'No events match the filters' : `No matching events ${period.inWords}`}
      actions={
        <Button variant="default" onClick={onClear}>
          Show all events
        </Button>
      }
    >
      Changes of a quote or shipment are not in this log. See the changes on the page of the quote.
    </Nothing>
  )
}
