import { IconColumns } from 'virtual:tabler-icons'
import { ActionIcon, Button, Checkbox, Popover, SimpleGrid, Stack } from '@mantine/core'
import { useState } from 'react'
import { choosableColumns, usualColumns } from './quotes-columns.tsx'

/** Chooses the columns of the list. The list shows the choice at once; it is saved when the menu closes. */
export function ColumnChoice({
  chosen,
  onChoose,
  onDone,
}: {
  /** The names of the chosen columns; empty for the usual ones. */
  chosen: readonly string[]
  onChoose: (names: readonly string[]) => void
  onDone: () => void
}) {
  const [isOpen, setIsOpen] = useState(false)
  const checked = chosen.length === 0 ? usualColumns : chosen
  return (
    <Popover
      opened={isOpen}
      onChange={setIsOpen}
      onClose={onDone}
      position="bottom-end"
      trapFocus
      withRoles={false}
      withinPortal={false}
    >
      <Popover.Target>
        <ActionIcon
          size={30}
          variant="default"
          aria-label="Columns"
          title="Columns"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          <IconColumns size={16} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label="Columns of the list">
        <Stack gap="sm">
          <SimpleGrid cols={2} spacing="xs">
            {choosableColumns.map(({ key, header }) => (
              <Checkbox
                key={key}
                size="xs"
                label={header}
                checked={checked.includes(key)}
                disabled={checked.length === 1 && checked.includes(key)}
                onChange={({ currentTarget }) =>
                  onChoose(
                    choosableColumns
                      .map((column) => column.key)
                      .filter((one) => (one === key ? currentTarget.checked : checked.includes(one))),
                  )
                }
              />
            ))}
          </SimpleGrid>
          <Button size="xs" variant="default" disabled={chosen.length === 0} onClick={() => onChoose([])}>
            Usual columns
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
