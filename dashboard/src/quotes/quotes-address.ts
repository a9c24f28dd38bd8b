import { useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { pagePaths } from '#contract/pages.ts'
import type { Query } from '../api/index.ts'

/** The filters, order and page of the list of quotes, as address parameters. */
const filterNames = [
  'outcome',
  'q',
  'customer',
  'origin',
  'destination',
  'equipment',
  'quoted_by',
  'reason',
  'from',
  'to',
] as const
const viewNames = [...filterNames, 'sort', 'limit', 'cursor', 'page'] as const
export type QuotesView = Readonly<Partial<Record<(typeof viewNames)[number], string>>>

export const pageSizes = ['50', '100', '200'] as const
const pageSizeShown = '50'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The cursors of the previous pages, first page first. Kept in the history state because an address is too short. */
    quotesTrail?: readonly string[]
    /** The number of quotes in the selection. The API returns it only with the first page. */
    quotesTotal?: number
  }
}

/** Midnight in the viewer's time zone, ISO 8601. Text that is not a date is returned as is, and the service rejects it. */
function startOfDay(day: string, daysLater: number): string {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []
  if (year === undefined) return day
  const start = new Date(Number(year), Number(month) - 1, Number(date) + daysLater)
  return Number.isNaN(start.getTime()) ? day : start.toISOString()
}

/** The filters as API parameters. Days become the moments at which they begin and end. */
function askedFilters(view: QuotesView): Query<'export-lanes'> {
  const asked = Object.fromEntries(
    filterNames.flatMap((name) => (view[name] === undefined ? [] : [[name, view[name]]])),
  )
  return {
    ...asked,
    ...(view.from === undefined ? {} : { from: startOfDay(view.from, 0) }),
    ...(view.to === undefined ? {} : { to: startOfDay(view.to, 1) }),
  }
}

function viewOf(search: Readonly<Record<string, unknown>>): QuotesView {
  return Object.fromEntries(
    viewNames.flatMap((name) => {
      const value = search[name]
      return typeof value === 'string' && value !== '' ? [[name, value]] : []
    }),
  )
}

/** The last view of the list. The page of a quote links back to it. */
let lastView: QuotesView = {}
export function lastQuotesView(): Record<string, string> {
  return { ...lastView }
}

type QuotesPatch = Readonly<Partial<Record<keyof QuotesView, string>>>
interface Going {
  readonly replace?: boolean
  readonly trail?: readonly string[]
  readonly total?: number
}

function wordsOf(view: QuotesView): Record<string, string> {
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== ''))
}

/** The view in the address, its API query, and functions that go to other views. */
export function useQuotesView() {
  const view = viewOf(useSearch({ strict: false }))
  const trail = useLocation({ select: ({ state }) => state.quotesTrail }) ?? []
  const total = useLocation({ select: ({ state }) => state.quotesTotal }) ?? null
  const navigate = useNavigate()
  useEffect(() => {
    lastView = view
  })
  const filters = askedFilters(view)
  const limit = view.limit ?? pageSizeShown
  const page = view.cursor === undefined ? 1 : Number(view.page) || null
  const go = (next: QuotesView, { replace = false, ...known }: Going = {}) =>
    void navigate({
      to: pagePaths.quotes,
      search: wordsOf(next),
      replace,
      resetScroll: false,
      state: {
        ...(known.trail === undefined ? {} : { quotesTrail: known.trail }),
        ...(known.total === undefined ? {} : { quotesTotal: known.total }),
      },
    })
  const { cursor, page: _page, ...first } = view
  const known = total === null ? {} : { total }
  const before = trail.at(-1)
  return {
    view,
    filters,
    asked: {
      ...filters,
      ...(view.sort === undefined ? {} : { sort: view.sort }),
      ...(cursor === undefined ? {} : { cursor }),
      limit,
    } as unknown as Query<'list-lanes'>,
    isFiltered: filterNames.some((name) => view[name] !== undefined),
    filtersSet: filterNames.filter((name) => name !== 'outcome' && name !== 'q' && view[name] !== undefined)
      .length,
    limit: Number(limit) || 0,
    page,
    total,
    /** Changes filters, order or page size, and goes to the first page. */
    change: (patch: QuotesPatch, replace = false) =>
      void navigate({
        to: pagePaths.quotes,
        // Uses the current address, because two changes can happen before the next render.
        search: (previous) => {
          const { cursor: _, page: _of, ...kept } = viewOf(previous)
          return wordsOf({ ...kept, ...patch })
        },
        replace,
        resetScroll: false,
      }),
    clear: () =>
      go({
        ...(view.sort === undefined ? {} : { sort: view.sort }),
        ...(view.limit === undefined ? {} : { limit: view.limit }),
      }),
    toFirst: cursor === undefined ? null : () => go(first, known),
    toPrevious:
      before !== undefined && before !== ''
        ? () =>
            go(
              { ...first, cursor: before, page: String((page ?? 2) - 1) },
              { trail: trail.slice(0, -1), ...known },
            )
        : before === '' || page === 2
          ? () => go(first, known)
          : null,
    toNext: (next: string, totalKnown: number | null) =>
      go(
        { ...first, cursor: next, page: String((page ?? 1) + 1) },
        { trail: [...trail, cursor ?? ''], ...(totalKnown === null ? {} : { total: totalKnown }) },
      ),
  }
}
export type QuotesPlace = ReturnType<typeof useQuotesView>
