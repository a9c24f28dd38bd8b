import { NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { calendarDay, month } from './formats.ts'
import {
  isBackwards,
  isMonth,
  monthWithin,
  type Period,
  type PeriodName,
  type PeriodParams,
  periodNames,
  periodOf,
} from './periods.ts'

/** The period that all pages show until another one is chosen. */
const periodAtFirst: PeriodName = 'last-12-months'

/** The named period that was chosen last in this tab, on any page. */
let chosen: PeriodName = periodAtFirst

/**
 * The current period: from the address, or else the last choice on any page. It is relative to the day on which the page was
 * opened.
 *
 * @param own the period of a page that does not follow the other pages
 */
export function usePeriod(query: PeriodParams, own?: PeriodName): Period {
  const [today] = useState(() => new Date())
  const [shared] = useState(chosen)
  return periodOf(query, own ?? shared, today)
}

function rememberPeriod(choice: string): void {
  if (choice !== 'custom' && Object.hasOwn(periodNames, choice)) chosen = choice as PeriodName
}

/**
 * Selects a period by name, or by its first and last day.
 *
 * @example <PeriodInput period={period} query={search} onChange={(query) => change(query)} />
 */
export function PeriodInput({
  period,
  query,
  onChange,
  label = 'Quoted in',
}: {
  period: Period
  query: PeriodParams
  onChange: (query: { period: string; from: string; to: string }) => void
  label?: string
}) {
  const wrong = isBackwards(period) ? 'The last day is before the first day' : null
  const days = { from: query.from ?? '', to: query.to ?? '' }
  return (
    <>
      <NativeSelect
        label={label}
        value={period.choice}
        onChange={({ currentTarget: { value } }) => {
          rememberPeriod(value)
          onChange({ period: value, ...(value === 'custom' ? days : { from: '', to: '' }) })
        }}
        data={[
          ...Object.entries(periodNames).map(([value, label]) => ({ value, label })),
          ...(isMonth(period.choice)
            ? [{ value: period.choice, label: `${month(period.choice)}${cutInWords(period)}` }]
            : []),
        ]}
      />
      {period.choice === 'custom' && (
        <>
          <TextInput
            type="date"
            label="First day"
            value={days.from}
            onChange={(event) => onChange({ period: 'custom', ...days, from: event.currentTarget.value })}
          />
          <TextInput
            type="date"
            label="Last day"
            value={days.to}
            error={wrong}
            onChange={(event) => onChange({ period: 'custom', ...days, to: event.currentTarget.value })}
          />
        </>
      )}
    </>
  )
}

/** The limits of a month that the period covers only in part. */
function cutInWords(period: Period): string {
  const { from, to } = monthWithin(period.choice, period)
  return [from && `, from ${calendarDay(from)}`, to && `, to ${calendarDay(to)}`].join('')
}
