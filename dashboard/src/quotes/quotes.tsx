import { IconDownload, IconKeyboard } from 'virtual:tabler-icons'
import { ActionIcon, Button, Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { type Answer, addressOfCall, type CallFailed, useAnswer, useMay } from '../api/index.ts'
import { Failed, Loading, Nothing, Page, showShortcuts } from '../shared-ui/index.ts'
import { filterNames, type QuotesPlace, type QuotesTotals, useQuotesView } from './quotes-address.ts'
import { ColumnChoice } from './quotes-column-choice.tsx'
import { QuotesFilters } from './quotes-filters.tsx'
import { QuotesList } from './quotes-list.tsx'
import { QuotesPager, shownWords } from './quotes-pager.tsx'
import {
  allQuotes,
  isBuiltIn,
  isSameName,
  type QuotesSettings,
  useQuotesSettings,
} from './quotes-settings.ts'
import { activeView, PendingTooLong, UnknownFilters, useDefaultView, ViewsMenu } from './quotes-views.tsx'

/** All quotes of the brokerage: filter, sort, mark won or lost, requote. */
export default function QuotesPage() {
  const settings = useQuotesSettings()
  const place = useQuotesView({ plainIsAll: settings.defaultView === allQuotes })
  const isOpened = useDefaultView(place, settings)
  const answer = useAnswer('list-quotes', { query: place.asked }, { keeps: true })
  const mayMark = useMay('member')
  const columns = useChosenColumns(place, settings)
  const totals = place.page === 1 ? totalsOf(answer.data) : place.totals
  const data = isOpened ? answer.data : undefined
  const { error } = answer
  const isLoading = answer.isPlaceholderData || (data === undefined && error === null)
  const hasQuotes = data !== undefined && (data.lanes.length > 0 || place.isFiltered)
  const shown = data === undefined || (error !== null && answer.isPlaceholderData) ? null : data
  return (
    <Page title="Quotes" hidesTitle>
      <UnknownFilters place={place} settings={settings} />
      <QuotesFilters
        place={place}
        error={error}
        views={<ViewsMenu place={place} settings={settings} />}
        actions={<Actions place={place} columns={columns} canExport={hasQuotes} />}
      />
      <Group id={listTop} justify="space-between" gap="xs" mih={30} style={{ scrollMarginTop: 60 }}>
        <Group gap="xs">
          <Text size="sm" role="status">
            {isLoading
              ? 'Loading quotes'
              : data === undefined
                ? 'No quotes loaded'
                : shownWords(place, data.lanes.length, totals)}
          </Text>
          {place.isFiltered && (
            <Button size="xs" variant="subtle" onClick={place.clear}>
              Clear filters
            </Button>
          )}
          <PendingTooLong place={place} settings={settings} />
        </Group>
        <QuotesPager
          place={place}
          next={data?.next_cursor ?? null}
          totals={totals}
          label="Pages of quotes"
          withSize
        />
      </Group>
      {error !== null && <ListFailed error={error} place={place} retry={() => void answer.refetch()} />}
      {data === undefined && error === null && <Loading label="Loading the quotes" rows={12} height={36} />}
      {shown !== null && shown.lanes.length === 0 && <NoQuotes place={place} />}
      {shown !== null && shown.lanes.length > 0 && (
        <>
          <QuotesList
            rows={shown.lanes}
            columns={columns.chosen}
            isBusy={answer.isPlaceholderData}
            sort={place.view.sort ?? 'newest'}
            onSort={(sort) => place.change({ sort })}
            mayMark={mayMark}
          />
          <PagerBelow place={place} next={shown.next_cursor} totals={totals} />
        </>
      )}
    </Page>
  )
}

function totalsOf(data: Answer<'list-quotes'> | undefined): QuotesTotals | null {
  const { total = null, loads = null } = data ?? {}
  return total === null || loads === null ? null : { total, loads }
}

/** The columns of the active view, else of the person. A new choice shows at once, and is saved with `onDone`. */
function useChosenColumns(place: QuotesPlace, settings: QuotesSettings) {
  const [draft, setDraft] = useState<readonly string[] | null>(null)
  const { view } = activeView(place, settings)
  const saved = view?.columns ?? settings.settings?.columns ?? noColumns
  return {
    chosen: draft ?? saved,
    onChoose: setDraft,
    onDone: async () => {
      if (draft === null) return
      const columns = [...draft]
      await settings.saveOrNotify((now) =>
        view === null || isBuiltIn(view.name)
          ? { columns }
          : { views: now.views.map((one) => (isSameName(one.name, view.name) ? { ...one, columns } : one)) },
      )
      setDraft(null)
    },
  }
}

const noColumns: readonly string[] = []
const listTop = 'quotes-list-top'

function Actions({
  place,
  columns: { chosen, onChoose, onDone },
  canExport,
}: {
  place: QuotesPlace
  columns: ReturnType<typeof useChosenColumns>
  canExport: boolean
}) {
  return (
    <>
      <ColumnChoice chosen={chosen} onChoose={onChoose} onDone={() => void onDone()} />
      <ActionIcon
        size={30}
        variant="default"
        visibleFrom="sm"
        aria-label="Shortcuts"
        title="Shortcuts"
        onClick={() => showShortcuts(true)}
      >
        <IconKeyboard size={16} aria-hidden />
      </ActionIcon>
      {canExport && (
        <ActionIcon
          size={30}
          variant="default"
          component="a"
          href={addressOfCall('export-quotes', place.filters)}
          download
          aria-label="Export CSV"
          title="Export CSV"
        >
          <IconDownload size={16} aria-hidden />
        </ActionIcon>
      )}
    </>
  )
}

/** The page controls below the list. After a change of page, the window scrolls back to the top of the list. */
function PagerBelow({
  place,
  next,
  totals,
}: {
  place: QuotesPlace
  next: string | null
  totals: QuotesTotals | null
}) {
  return (
    <Group justify="flex-end">
      <QuotesPager
        place={place}
        next={next}
        totals={totals}
        label="Pages of quotes, below the list"
        onMoved={() => document.getElementById(listTop)?.scrollIntoView({ block: 'start' })}
      />
    </Group>
  )
}

/**
 * The list could not be loaded. A filter or cursor in the address that the service cannot read (422) gets a button that
 * leads to a valid view; other failures get a retry button.
 */
function ListFailed({ error, place, retry }: { error: CallFailed; place: QuotesPlace; retry: () => void }) {
  if (error.status !== 422)
    return <Failed error={error} retry={retry} title="The quotes could not be loaded" />
  const wrongPage = error.fieldError('cursor') !== undefined && place.toFirst !== null
  const wrong = filterNames.filter((name) => error.fieldError(name) !== undefined)
  return (
    <>
      <Failed error={error} title={wrongPage ? 'This page does not exist' : 'A filter is not valid'} />
      <Group>
        {wrongPage ? (
          <Button size="xs" variant="default" onClick={place.toFirst ?? undefined}>
            Go to the first page
          </Button>
        ) : (
          <>
            {wrong.length > 0 && (
              <Button
                size="xs"
                onClick={() => place.change(Object.fromEntries(wrong.map((name) => [name, ''])))}
              >
                Remove {wrong.length === 1 ? 'this filter' : 'these filters'}
              </Button>
            )}
            <Button size="xs" variant="default" onClick={place.clear}>
              Show all quotes
            </Button>
          </>
        )}
      </Group>
    </>
  )
}

function NoQuotes({ place }: { place: QuotesPlace }) {
  const mayQuote = useMay('member')
  if (place.toFirst !== null) {
    return (
      <Nothing
        title="No quotes on this page"
        actions={<Button onClick={place.toFirst}>Go to the first page</Button>}
      >
        The list is now shorter than when this page was opened.
      </Nothing>
    )
  }
  if (place.isFiltered) {
    return (
      <Nothing
        title="No quotes match these filters"
        actions={<Button onClick={place.clear}>Clear filters</Button>}
      >
        Remove a filter, or choose a longer period.
      </Nothing>
    )
  }
  return (
    <Nothing
      title="No quotes yet"
      actions={
        mayQuote && (
          <>
            <Button component={Link} to={pagePaths.desk}>
              Quote a lane
            </Button>
            <Button component={Link} to={pagePaths.imports} variant="default">
              Import past quotes
            </Button>
          </>
        )
      }
    >
      {mayQuote
        ? 'Quote your first lane on the quote desk, or import past quotes. The advice is based on these quotes.'
        : 'Quotes of your brokerage appear here.'}
    </Nothing>
  )
}
