import { IconChevronLeft, IconChevronRight, IconChevronsLeft } from 'virtual:tabler-icons'
import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import type { AddressParams } from './address.ts'
import { counted } from './formats.ts'

/**
 * The page controls of a long list. The API finds pages by cursor, so Previous goes through the pages that the user came
 * from. A page that was opened from a link goes back to the first page.
 */
export function PageTurner({
  search,
  change,
  nextCursor,
  rows,
  total,
  one,
  many = `${one}s`,
}: {
  search: AddressParams
  change: (params: AddressParams) => void
  nextCursor: string | null
  rows: number
  /** The rows of the whole selection; null if unknown. */
  total: number | null
  one: string
  many?: string
}) {
  const [cameFrom, setCameFrom] = useState<ReadonlyMap<string, string>>(new Map())
  const cursor = search.cursor ?? ''
  const page = cursor === '' ? 1 : Math.max(2, Math.trunc(Number(search.page ?? 2)) || 2)
  const before = cameFrom.get(cursor)
  const turn = (to: string, number: number) => {
    change({ cursor: to, page: number > 1 ? String(number) : undefined })
    // The new page is shown from its first row.
    window.scrollTo({ top: 0 })
  }
  const next = () => {
    if (nextCursor === null) return
    setCameFrom(new Map(cameFrom).set(nextCursor, cursor))
    turn(nextCursor, page + 1)
  }
  return (
    <Group justify="space-between" gap="xs">
      <Text size="sm" c="dimmed" aria-live="polite">
        {total === null
          ? `Page ${page}: ${counted(rows, one, many)}`
          : rows === total
            ? counted(total, one, many)
            : `Page ${page}: ${rows} of ${counted(total, one, many)}`}
      </Text>
      {(page > 1 || nextCursor !== null) && (
        <Group gap="xs" role="group" aria-label="Pages of the list">
          {page > 2 && (
            <Button
              variant="default"
              size="xs"
              leftSection={<IconChevronsLeft size={14} aria-hidden />}
              onClick={() => turn('', 1)}
            >
              First page
            </Button>
          )}
          <Button
            variant="default"
            size="xs"
            disabled={page === 1 || (before === undefined && page > 2)}
            leftSection={<IconChevronLeft size={14} aria-hidden />}
            onClick={() => turn(before ?? '', page - 1)}
          >
            Previous page
          </Button>
          <Button
            variant="default"
            size="xs"
            disabled={nextCursor === null}
            rightSection={<IconChevronRight size={14} aria-hidden />}
            onClick={next}
          >
            Next page
          </Button>
        </Group>
      )}
    </Group>
  )
}
