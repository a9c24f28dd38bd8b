import { Select } from '@mantine/core'
import { useState } from 'react'
import { timeZoneNamed } from '#contract/time-zone.ts'
import { viewerZone } from '../shared-ui/index.ts'

/** The zones that the browser knows, UTC, and the chosen one, which an older browser may not list. */
function zonesToChoose(chosen: string): string[] {
  const named = ['UTC', viewerZone(), ...Intl.supportedValuesOf('timeZone')].flatMap(
    (name) => timeZoneNamed(name) ?? [],
  )
  return [...new Set([chosen, ...named])].sort()
}

/** Text to search without punctuation: "new york" finds America/New_York. */
const searchable = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9+]+/g, ' ')
    .trim()

export function TimeZoneInput({
  onChange,
  ...input
}: {
  value: string
  onChange: (zone: string) => void
  error: string | undefined
  disabled: boolean
}) {
  const [zones] = useState(() => zonesToChoose(input.value))
  return (
    <Select
      label="Time zone"
      description={`Days, months and times on all pages, and months of Results. Your browser is in ${viewerZone()}.`}
      searchable
      allowDeselect={false}
      limit={100}
      nothingFoundMessage="No time zone with this name. Try a large city, such as Chicago."
      data={zones}
      filter={({ options, search, limit }) =>
        options
          .filter((option) => 'label' in option && searchable(option.label).includes(searchable(search)))
          .slice(0, limit)
      }
      {...input}
      onChange={(next) => {
        if (next !== null) onChange(next)
      }}
    />
  )
}
