import { IconFileSpreadsheet, IconUpload } from 'virtual:tabler-icons'
import { Button, FileButton, Group, NativeSelect, Paper, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { importBytesMax } from '#contract/limits.ts'
import { counted, tableFiles } from '../shared-ui/index.ts'
import { type ChosenFile, fileSize } from './import-file.ts'

/** Selects the file to import, by a file dialog or by dropping it anywhere on the page. */
export function ChooseFile({
  chosen,
  busy,
  onFile,
  onSheet,
  onClear,
}: {
  chosen: ChosenFile | null
  busy: boolean
  onFile: (file: File) => void
  onSheet: (sheet: string) => void
  onClear: () => void
}) {
  const over = useDroppedFile(onFile)
  const pick = (label: string, variant: 'filled' | 'default') => (
    <FileButton onChange={(file) => file !== null && onFile(file)} accept={tableFiles} disabled={busy}>
      {(props) => (
        <Button
          {...props}
          variant={variant}
          size={variant === 'filled' ? 'sm' : 'xs'}
          loading={busy}
          leftSection={<IconUpload size={16} aria-hidden />}
        >
          {label}
        </Button>
      )}
    </FileButton>
  )
  return (
    <Paper
      withBorder
      p="md"
      style={{
        borderStyle: chosen === null ? 'dashed' : 'solid',
        borderWidth: chosen === null ? 2 : 1,
        borderColor: over ? 'var(--chart-accent)' : undefined,
      }}
    >
      {chosen === null ? (
        <Stack align="center" gap="xs" py="md">
          <Text fw={600}>{over ? 'Drop it here' : 'Drop a file here'}</Text>
          {pick('Choose a file', 'filled')}
          <Text size="sm" c="dimmed" ta="center">
            An Excel workbook (.xlsx), or .csv, .txt or .tsv, also compressed as .gz, up to{' '}
            {fileSize(importBytesMax)}. You can check the file before you import it.
          </Text>
        </Stack>
      ) : (
        <Group justify="space-between" gap="sm">
          <Group gap="sm" wrap="nowrap" miw={0} style={{ flex: '1 1 16rem' }}>
            <IconFileSpreadsheet aria-hidden style={{ flex: 'none' }} />
            <div style={{ minWidth: 0 }}>
              <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                {chosen.file.name}
              </Text>
              <Text size="sm" c="dimmed">
                {fileSize(chosen.file.size)} · {counted(chosen.header.length, 'column')} · {chosen.found}
              </Text>
            </div>
          </Group>
          <Group gap="xs">
            <SheetChoice chosen={chosen} busy={busy} onSheet={onSheet} />
            {pick('Choose another', 'default')}
            <Button variant="subtle" size="xs" onClick={onClear} disabled={busy}>
              Remove
            </Button>
          </Group>
        </Group>
      )}
    </Paper>
  )
}

/** Selects the sheet of a workbook with several. */
function SheetChoice({
  chosen,
  busy,
  onSheet,
}: {
  chosen: ChosenFile
  busy: boolean
  onSheet: (sheet: string) => void
}) {
  if (chosen.sheets.length < 2) return null
  return (
    <NativeSelect
      size="xs"
      aria-label="Sheet"
      value={chosen.sheet ?? ''}
      disabled={busy}
      onChange={(event) => onSheet(event.currentTarget.value)}
      data={[...chosen.sheets]}
    />
  )
}

/** Accepts a file dropped anywhere. Without this, a drop outside of the frame makes the browser open the file. */
function useDroppedFile(onFile: (file: File) => void): boolean {
  const [over, setOver] = useState(false)
  useEffect(() => {
    const hasFile = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true
    const drag = (event: DragEvent) => {
      if (!hasFile(event)) return
      event.preventDefault()
      setOver(true)
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false)
    }
    const drop = (event: DragEvent) => {
      if (!hasFile(event)) return
      event.preventDefault()
      setOver(false)
      const file = event.dataTransfer?.files[0]
      if (file !== undefined) onFile(file)
    }
    window.addEventListener('dragover', drag)
    window.addEventListener('dragleave', leave)
    window.addEventListener('drop', drop)
    return () => {
      window.removeEventListener('dragover', drag)
      window.removeEventListener('dragleave', leave)
      window.removeEventListener('drop', drop)
    }
  }, [onFile])
  return over
}
