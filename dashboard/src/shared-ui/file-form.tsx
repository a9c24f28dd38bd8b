import { Button, FileInput, Group, Paper, Stack, Text, Title, type TitleOrder } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import type { CallFailed } from '../api/index.ts'
import { Failed } from './states.tsx'

/** The files with tables that are read, for the file dialog. */
export const tableFiles =
  '.csv,.txt,.tsv,.xlsx,.gz,text/csv,text/plain,text/tab-separated-values,application/gzip'

/** The encodings of text that is not UTF-8 or UTF-16, for a choice. */
export const encodingChoices = [
  { value: 'windows-1252', label: 'Windows-1252' },
  { value: 'macintosh', label: 'Macintosh' },
  { value: 'cp850', label: 'DOS (CP850)' },
  { value: 'cp437', label: 'DOS (CP437)' },
] as const

interface FileFormProps {
  /** The name of the form for screen readers. */
  readonly label: string
  readonly titleOrder: TitleOrder
  readonly hint: ReactNode
  readonly fileLabel: string
  readonly file: File | null
  readonly onFile: (file: File | null) => void
  readonly error: CallFailed | null
  readonly errorTitle: string
  readonly pending: boolean
  /** The text of the button that sends the file. */
  readonly action: string
  readonly onSend: () => void
  readonly fields?: ReactNode
  readonly result: ReactNode
  /** A second button, after the first. */
  readonly then?: ReactNode
}

/** The form that sends one file, with further fields, the service's errors and the result. */
export function FileForm(props: FileFormProps) {
  const { file, onFile, error, pending } = props
  const submit = (event: FormEvent) => {
    event.preventDefault()
    props.onSend()
  }
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit} aria-label={props.label}>
      <Stack gap="sm">
        <Title order={props.titleOrder} size={`h${props.titleOrder + 2}`}>
          Load a file
        </Title>
        <Text size="sm" c="dimmed">
          {props.hint}
        </Text>
        <FileInput
          label={props.fileLabel}
          placeholder="Choose a file"
          accept={tableFiles}
          required
          clearable
          clearButtonProps={{ 'aria-label': 'Remove the file' }}
          value={file}
          onChange={onFile}
        />
        {props.fields}
        {error !== null && <Failed error={error} title={props.errorTitle} />}
        {props.result}
        <Group justify="flex-end">
          <Button
            type="submit"
            variant={props.then === undefined ? 'filled' : 'default'}
            loading={pending}
            disabled={file === null}
          >
            {props.action}
          </Button>
          {props.then}
        </Group>
      </Stack>
    </Paper>
  )
}
