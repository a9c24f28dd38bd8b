import { Button, Group, NativeSelect, Text } from '@mantine/core'
import { count, counted } from '../shared-ui/index.ts'
import { offersOf, pageSizes, type QuotesPlace, type QuotesTotals } from './quotes-address.ts'

/**
 * The range of shown quotes, with the number of loads if some are earlier offers for the same load.
 * @example shownWords(place, 50, { total: 12309, loads: 11875 }) // '1–50 of 12,309 offers for 11,875 loads'
 */
export function shownWords(
  { page, limit, view }: Pick<QuotesPlace, 'page' | 'limit' | 'view'>,
  rows: number,
  totals: QuotesTotals | null,
): string {
  if (rows === 0) return 'No quotes'
  const offers = offersOf(view)
  const before = page === null ? null : (page - 1) * limit
  const range = before === null ? count(rows) : `${count(before + 1)}–${count(before + rows)}`
  const isAll = page === 1 && totals?.total === rows
  const of = (what: string) =>
    isAll
      ? counted(rows, what)
      : `${range}${totals === null ? ` ${what}s` : ` of ${counted(totals.total, what)}`}`
  if (offers === 'superseded') return of('superseded offer')
  if (totals !== null && totals.loads < totals.total)
    return `${of('offer')} for ${counted(totals.loads, 'load')}`
  return offers === 'last' ? `${of('quote')}, without superseded offers` : of('quote')
}

/** The page controls of the list, with the page size. */
export function QuotesPager({
  place,
  next,
  totals,
  label,
  withSize = false,
  onMoved,
}: {
  place: QuotesPlace
  next: string | null
  totals: QuotesTotals | null
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
        onClick={next === null ? undefined : moved(() => place.toNext(next, totals))}
      >
        Next
      </Button>
    </Group>
  )
}
