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

/** The period in the address, relative to the day on which the page was opened. */
export function usePeriod(query: PeriodParams, fallback: PeriodName): Period {
  const [today] = useState(() => new Date())
  return periodOf(query, fallback, today)
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
        onChange={(event) =>
          onChange({
            period: event.currentTarget.value,
            ...(event.currentTarget.value === 'custom' ? days : { from: '', to: '' }),
          })
        }
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
