import { useLocation, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { pagePaths } from '#contract/pages.ts'
import type { Query } from '../api/index.ts'
import { startOfDay, useOwnAddress } from '../shared-ui/index.ts'
import { allQuotes } from './quotes-settings.ts'

/** The filters, order and page of the list of quotes, as address parameters. */
export const filterNames = [
  'outcome',
  'pending_days',
  'q',
  'customer',
  'origin',
  'destination',
  'equipment',
  'rate_type',
  'mode',
  'quoted_by',
  'reason',
  'carrier',
  'finding',
  'offers',
  'from',
  'to',
] as const
/** The parameters of a saved view. */
const savedNames = [...filterNames, 'sort', 'limit'] as const
const viewNames = [...savedNames, 'view', 'cursor', 'page'] as const
export type QuotesView = Readonly<Partial<Record<(typeof viewNames)[number], string>>>

export const pageSizes = ['50', '100', '200'] as const
const pageSizeShown = '50'

export interface QuotesTotals {
  readonly total: number
  readonly loads: number
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The cursors of the previous pages, first page first. They are in the history state, because an address is too short. */
    quotesTrail?: readonly string[]
    /** The numbers of quotes and loads in the selection. The API returns them only with the first page. */
    quotesTotals?: QuotesTotals
  }
}

/** The first moment of a day, ISO 8601. Text that is not a date is returned as is, and the service rejects it. */
function beginningOf(day: string, daysLater: number): string {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []
  if (year === undefined) return day
  return startOfDay(Number(year), Number(month) - 1, Number(date) + daysLater).toISOString()
}

/** Which offers a view has. By outcome, a load counts once, as on every other page, by its last offer. */
export function offersOf({ outcome, offers }: QuotesView): string | undefined {
  if (outcome === 'superseded') return 'superseded'
  return outcome === undefined || outcome === 'void' ? offers : 'last'
}

/** The filters as API parameters. Days become the moments at which they begin and end. */
export function requestedFilters(view: QuotesView): Query<'export-quotes'> {
  const chosen = {
    ...view,
    outcome: view.outcome === 'superseded' ? undefined : view.outcome,
    offers: offersOf(view),
  }
  const asked = Object.fromEntries(
    filterNames.flatMap((name) => (chosen[name] === undefined ? [] : [[name, chosen[name]]])),
  )
  return {
    ...asked,
    ...(view.from === undefined ? {} : { from: beginningOf(view.from, 0) }),
    ...(view.to === undefined ? {} : { to: beginningOf(view.to, 1) }),
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

/** Filters and order as the query string of a saved view, always in the same order. */
export function savedQuery(view: QuotesView): string {
  const saved = new URLSearchParams()
  for (const name of savedNames) if (view[name] !== undefined) saved.set(name, view[name])
  return saved.toString()
}

/** The filters and order of a saved view. Parameters that the page does not have any more are left out. */
export function viewOfQuery(query: string): QuotesView {
  const view = viewOf(Object.fromEntries(new URLSearchParams(query)))
  return Object.fromEntries(
    savedNames.flatMap((name) => (view[name] === undefined ? [] : [[name, view[name]]])),
  )
}

/** The names in a saved view that are no parameters of this page. */
export function unknownFilters(query: string): readonly string[] {
  const known = new Set<string>(savedNames)
  return [...new URLSearchParams(query).keys()].filter((name) => !known.has(name))
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
  readonly totals?: QuotesTotals
}

function wordsOf(view: QuotesView): Record<string, string> {
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== ''))
}

/** The view in the address, its API query, and functions that go to other views. */
export function useQuotesView({ plainIsAll }: { plainIsAll: boolean }) {
  const view = viewOf(useSearch({ strict: false }))
  const trail = useLocation({ select: ({ state }) => state.quotesTrail }) ?? []
  const totals = useLocation({ select: ({ state }) => state.quotesTotals }) ?? null
  const goOn = useOwnAddress(pagePaths.quotes)
  useEffect(() => {
    lastView = view
  })
  const filters = requestedFilters(view)
  const limit = view.limit ?? pageSizeShown
  const page = view.cursor === undefined ? 1 : Number(view.page) || null
  const go = (next: QuotesView, { replace = false, ...known }: Going = {}) =>
    goOn({
      search: wordsOf(next),
      replace,
      state: {
        ...(known.trail === undefined ? {} : { quotesTrail: known.trail }),
        ...(known.totals === undefined ? {} : { quotesTotals: known.totals }),
      },
    })
  // The plain address opens the default view. If that is another view, the view of all quotes needs its name.
  const named = (name: string) => (name === allQuotes && plainIsAll ? {} : { view: name })
  const { cursor, page: _page, ...first } = view
  const known = totals === null ? {} : { totals }
  const before = trail.at(-1)
  return {
    view,
    filters,
    asked: {
      ...filters,
      ...(view.sort === undefined ? {} : { sort: view.sort }),
      ...(cursor === undefined ? {} : { cursor }),
      limit,
    } as unknown as Query<'list-quotes'>,
    /** True for the plain address of the page, as in the menu: the page opens the person's default view. */
    isPlain: Object.keys(view).length === 0,
    isFiltered: filterNames.some((name) => view[name] !== undefined),
    filtersSet: filterNames.filter((name) => name !== 'outcome' && name !== 'q' && view[name] !== undefined)
      .length,
    limit: Number(limit) || 0,
    page,
    totals,
    /** Changes filters, order or page size, and goes to the first page. */
    change: (patch: QuotesPatch, replace = false) =>
      goOn({
        // Uses the current address, because two changes can happen before the next render.
        search: (previous) => {
          const { cursor: _, page: _of, ...kept } = viewOf(previous)
          return wordsOf({ ...kept, ...patch })
        },
        replace,
      }),
    open: (name: string, query: string, replace = false) =>
      go({ ...viewOfQuery(query), ...named(name) }, { replace }),
    clear: () =>
      go({
        ...named(allQuotes),
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
    toNext: (next: string, totalsKnown: QuotesTotals | null) =>
      go(
        { ...first, cursor: next, page: String((page ?? 1) + 1) },
        { trail: [...trail, cursor ?? ''], ...(totalsKnown === null ? {} : { totals: totalsKnown }) },
      ),
  }
}
export type QuotesPlace = ReturnType<typeof useQuotesView>
