import { Button, Group, NativeSelect, Text } from '@mantine/core'
import { count } from '../shared-ui/index.ts'
import { pageSizes, type QuotesPlace } from './quotes-address.ts'

/** The range of shown quotes. @example shownWords(place, 50, 12253) // '1–50 of 12,253 quotes' */
export function shownWords({ page, limit }: QuotesPlace, rows: number, total: number | null): string {
  const of = total === null ? '' : ` of ${count(total)}`
  if (rows === 0) return 'No quotes'
  if (page === null) return `${count(rows)} quotes${of}`
  const before = (page - 1) * limit
  return `${count(before + 1)}–${count(before + rows)}${of} quotes`
}

/** The page controls of the list, with the page size. */
export function QuotesPager({
  place,
  next,
  total,
  label,
  withSize = false,
  onMoved,
}: {
  place: QuotesPlace
  next: string | null
  total: number | null
  label: string
  withSize?: boolean
  onMoved?: () => void
}) {
  const { toFirst, toPrevious } = place
  const moved = (go: () => void) => () => {
    go()
    onMoved?.()
  }
  return (
    <Group component="nav" aria-label={label} gap="xs">
      {withSize && (
        <Group gap={6} wrap="nowrap">
          <Text component="label" size="sm" htmlFor="quotes-page-size">
            Per page
          </Text>
          <NativeSelect
            id="quotes-page-size"
            size="xs"
            w={72}
            data={[...new Set([...pageSizes, String(place.limit)])]}
            value={String(place.limit)}
            onChange={(event) => place.change({ limit: event.currentTarget.value })}
          />
        </Group>
      )}
      {toFirst !== null && (
        <Button size="xs" variant="subtle" onClick={moved(toFirst)}>
          First page
        </Button>
      )}
      <Button
        size="xs"
        variant="default"
        disabled={toPrevious === null}
        onClick={toPrevious === null ? undefined : moved(toPrevious)}
      >
        Previous
      </Button>
      <Button
        size="xs"
        variant="default"
        disabled={next === null}
        onClick={next === null ? undefined : moved(() => place.toNext(next, total))}
      >
        Next
      </Button>
    </Group>
  )
}
