import { IconDownload, IconKeyboard } from 'virtual:tabler-icons'
import { Button, Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { addressOfCall, type CallFailed, useAnswer, useMay } from '../api/index.ts'
import { Failed, Loading, Nothing, Page, useShortcutsSwitch } from '../shared-ui/index.ts'
import { type QuotesPlace, useQuotesView } from './quotes-address.ts'
import { QuotesFilters } from './quotes-filters.tsx'
import { QuotesList } from './quotes-list.tsx'
import { QuotesPager, shownWords } from './quotes-pager.tsx'
import { ShortcutsDialog } from './quotes-shortcuts.tsx'

/** All quotes of the brokerage: filter, sort, mark won or lost, requote. */
export default function QuotesPage() {
  const place = useQuotesView()
  const answer = useAnswer('list-lanes', { query: place.asked }, { keeps: true })
  const [letters, switchLetters] = useShortcutsSwitch()
  const [helpIsOpen, setHelpIsOpen] = useState(false)
  const mayMark = useMay('member')
  const total = place.page === 1 ? (answer.data?.total ?? null) : place.total
  const { data, error } = answer
  const isLoading = answer.isPlaceholderData || (data === undefined && error === null)
  const hasQuotes = data !== undefined && (data.lanes.length > 0 || place.isFiltered)
  const shown = data === undefined || (error !== null && answer.isPlaceholderData) ? null : data
  return (
    <Page
      title="Quotes"
      actions={<Actions place={place} canExport={hasQuotes} onHelp={() => setHelpIsOpen(true)} />}
    >
      <QuotesFilters place={place} error={error} />
      <Group id={listTop} justify="space-between" gap="xs" mih={30} style={{ scrollMarginTop: 60 }}>
        <Text size="sm" role="status">
          {isLoading
            ? 'Loading quotes'
            : data === undefined
              ? 'No quotes loaded'
              : shownWords(place, data.lanes.length, total)}
        </Text>
        <QuotesPager
          place={place}
          next={data?.next_cursor ?? null}
          total={total}
          label="Pages of quotes"
          withSize
        />
      </Group>
      {error !== null && <ListFailed error={error} place={place} retry={() => void answer.refetch()} />}
      {data === undefined && error === null && <Loading label="Loading the quotes" rows={12} height={44} />}
      {shown !== null && shown.lanes.length === 0 && <NoQuotes place={place} />}
      {shown !== null && shown.lanes.length > 0 && (
        <>
          <QuotesList
            rows={shown.lanes}
            isBusy={answer.isPlaceholderData}
            sort={place.view.sort ?? 'newest'}
            onSort={(sort) => place.change({ sort })}
            letters={letters}
            mayMark={mayMark}
            onHelp={() => setHelpIsOpen(true)}
          />
          <PagerBelow place={place} next={shown.next_cursor} total={total} />
        </>
      )}
      <ShortcutsDialog
        opened={helpIsOpen}
        onClose={() => setHelpIsOpen(false)}
        isOn={letters}
        switchTo={switchLetters}
        mayMark={mayMark}
      />
    </Page>
  )
}

const listTop = 'quotes-list-top'

function Actions({
  place,
  canExport,
  onHelp,
}: {
  place: QuotesPlace
  canExport: boolean
  onHelp: () => void
}) {
  return (
    <>
      <Button
        size="xs"
        variant="default"
        visibleFrom="sm"
        leftSection={<IconKeyboard size={16} aria-hidden />}
        onClick={onHelp}
      >
        Shortcuts
      </Button>
      {canExport && (
        <Button
          size="xs"
          variant="default"
          component="a"
          href={addressOfCall('export-lanes', place.filters)}
          download
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          Export CSV
        </Button>
      )}
    </>
  )
}

/** The page controls below the list. After a change of page, the window scrolls back to the top of the list. */
function PagerBelow({
  place,
  next,
  total,
}: {
  place: QuotesPlace
  next: string | null
  total: number | null
}) {
  return (
    <Group justify="flex-end">
      <QuotesPager
        place={place}
        next={next}
        total={total}
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
  return (
    <>
      <Failed error={error} title={wrongPage ? 'This page does not exist' : 'A filter is not valid'} />
      <Group>
        {wrongPage ? (
          <Button size="xs" variant="default" onClick={place.toFirst ?? undefined}>
            Go to the first page
          </Button>
        ) : (
          <Button size="xs" variant="default" onClick={place.clear}>
            Show all quotes
          </Button>
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
