import { Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { useChange } from '../api/index.ts'
import { calendarDay, counted, FileForm } from '../shared-ui/index.ts'

/** The contents of a file: how many dated values it has, and how many changed. The last value is in words. */
interface LoadedFile {
  readonly count: number
  readonly changed: number
  readonly first: string
  readonly last: string
  readonly lastValue: string
}

/**
 * Loads a file of dated values, such as diesel prices. A file with an unreadable line saves nothing, and each such line is named.
 *
 * @param unit of the values' dates, such as "week"
 * @param value what a date has, such as "price"
 */
export function DatedFile({
  load,
  send,
  loaded,
  label,
  hint,
  fileLabel,
  unit,
  value,
}: {
  load: Pick<ReturnType<typeof useChange>, 'error' | 'isPending' | 'reset'>
  send: (file: File, then: { onSuccess: () => void }) => void
  loaded: LoadedFile | undefined
  label: string
  hint: string
  fileLabel: string
  unit: string
  value: string
}) {
  const [file, setFile] = useState<File | null>(null)
  const queries = useQueryClient()
  const onSend = () => {
    if (file !== null) send(file, { onSuccess: () => void queries.invalidateQueries() })
  }
  return (
    <details>
      <summary>{label}</summary>
      <FileForm
        label={label}
        titleOrder={3}
        hint={hint}
        fileLabel={fileLabel}
        file={file}
        onFile={(next) => {
          load.reset()
          setFile(next)
        }}
        error={load.error}
        errorTitle="Nothing was saved"
        pending={load.isPending}
        action="Load the file"
        onSend={onSend}
        result={
          loaded !== undefined && (
            <Text size="sm" role="status">
              {counted(loaded.count, unit)} read, from {calendarDay(loaded.first)} to{' '}
              {calendarDay(loaded.last)} ({loaded.lastValue}).{' '}
              {loaded.changed === 0
                ? 'All were saved before.'
                : `${counted(loaded.changed, unit)} new or with another ${value}.`}
            </Text>
          )
        }
      />
    </details>
  )
}
