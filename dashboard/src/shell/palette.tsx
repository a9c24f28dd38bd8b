import { IconSearch } from 'virtual:tabler-icons'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { labelLengthMax } from '#contract/limits.ts'
import { pagePaths } from '#contract/pages.ts'
import { builtInViews } from '#contract/quote-views.ts'
import { type Role, roleAtLeast } from '#contract/roles.ts'
import { useAnswer, useSession } from '../api/index.ts'
import {
  counted,
  dollarsIn,
  laneName,
  outcomeNames,
  shownOutcome,
  showShortcuts,
} from '../shared-ui/index.ts'
import { pagesOfPlaces } from './navigation.ts'

const [store, palette] = createSpotlight()

export const openPalette = palette.open

/** Opens the desk with an empty form. A draft on the desk stays beside the form. */
export const newQuote = { to: pagePaths.desk, search: {}, state: { deskBegins: true } as never } as const

interface Command {
  readonly label: string
  readonly needs: Role
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
}

const [, myQuotes, pendingTooLong] = builtInViews

const commands: readonly Command[] = [
  { label: 'New quote', needs: 'member', path: pagePaths.desk },
  { label: 'Import quotes', needs: 'member', path: pagePaths.imports },
  { label: myQuotes, needs: 'viewer', path: pagePaths.quotes, query: { view: myQuotes } },
  {
    label: `Quotes pending too long`,
    needs: 'viewer',
    path: pagePaths.quotes,
    query: { view: pendingTooLong },
  },
  { label: 'Add a person', needs: 'admin', path: pagePaths.team },
  { label: 'Create a service token', needs: 'admin', path: pagePaths.integration },
]

const searchPauseMs = 200
const foundMax = 6

/** The words of a search. Words between two cities are left out: "Dallas to Atlanta" finds quotes on this lane. */
function wordsOf(typed: string): string {
  return typed
    .split(/\s+/)
    .filter((word) => !/^(to|>|->|→|–|-)$/i.test(word))
    .join(' ')
    .trim()
}

/** The command palette: pages, actions, customers, and quotes by lane_ref, external id, reference, customer or place. */
export function Palette() {
  const [typed, setTyped] = useState('')
  const { user } = useSession()
  const navigate = useNavigate()
  const folded = typed.trim().toLowerCase()
  const fits = ({ label, needs }: { label: string; needs: Role }) =>
    roleAtLeast(user.role, needs) && label.toLowerCase().includes(folded)
  const actions = commands.filter(fits)
  const pages = pagesOfPlaces.filter(fits)
  const go = (path: string, query: Readonly<Record<string, string>> = {}) =>
    void navigate({ to: path, search: query as never })
  return (
    <Spotlight.Root
      store={store}
      shortcut={null}
      query={typed}
      onQueryChange={setTyped}
      scrollable
      maxHeight="60vh"
      attributes={{ content: { 'aria-label': 'Search and commands' } }}
    >
      <Spotlight.Search
        placeholder="Page, action, quote number, reference, customer, city"
        aria-label="Search pages, actions, customers and quotes"
        leftSection={<IconSearch size={18} aria-hidden />}
      />
      <Spotlight.ActionsList>
        {actions.length > 0 && (
          <Spotlight.ActionsGroup label="Actions">
            {actions.map(({ label, path, query }) => (
              <Spotlight.Action
                key={label}
                label={label}
                onClick={() => (path === pagePaths.desk ? void navigate(newQuote) : go(path, query))}
              />
            ))}
            {'keyboard shortcuts'.includes(folded) && (
              <Spotlight.Action label="Keyboard shortcuts" onClick={() => showShortcuts(true)} />
            )}
          </Spotlight.ActionsGroup>
        )}
        {pages.length > 0 && (
          <Spotlight.ActionsGroup label="Pages">
            {pages.map(({ label, path, icon: Icon }) => (
              <Spotlight.Action
                key={label}
                label={label}
                leftSection={<Icon size={18} aria-hidden />}
                onClick={() => go(path)}
              />
            ))}
          </Spotlight.ActionsGroup>
        )}
        <FoundCustomers typed={typed} go={go} />
        <FoundQuotes words={wordsOf(typed)} go={go} />
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}

const customersMax = 4

/** The most quoted customers whose name has the typed text. Empty without a match: the list of quotes shows whether anything was found. */
function FoundCustomers({
  typed,
  go,
}: {
  typed: string
  go: (path: string, query?: Readonly<Record<string, string>>) => void
}) {
  const text = typed.trim()
  const [asked] = useDebouncedValue(text, searchPauseMs)
  const isAsked = asked.length > 1 && text.length > 1
  const { data } = useAnswer(
    'list-customers',
    { query: { q: [...asked].slice(0, labelLengthMax).join(''), limit: customersMax } },
    { enabled: isAsked, keeps: true },
  )
  if (!isAsked || data === undefined || asked !== text || data.customers.length === 0) return null
  return (
    <Spotlight.ActionsGroup label="Customers">
      {data.customers.map(({ name, quotes }) => (
        <Spotlight.Action
          key={name}
          label={name}
          description={counted(quotes, 'quote')}
          onClick={() => go(pagePaths.customers, { name })}
        />
      ))}
    </Spotlight.ActionsGroup>
  )
}

/** The newest quotes with all typed words. */
function FoundQuotes({
  words,
  go,
}: {
  words: string
  go: (path: string, query?: Readonly<Record<string, string>>) => void
}) {
  const [asked] = useDebouncedValue(words, searchPauseMs)
  const isAsked = asked.length > 1 && words.length > 1
  const { data, error } = useAnswer(
    'list-quotes',
    { query: { q: asked, limit: foundMax } as never },
    { enabled: isAsked, keeps: true },
  )
  const isCurrent = data !== undefined && asked === words
  useEffect(() => {
    // Spotlight selects the first entry when the query changes. Quotes arrive later.
    const list = document.getElementById(store.getState().listId)
    if (!isCurrent || list === null || list.querySelector('[data-selected]') !== null) return
    list.querySelector('[data-action]')?.setAttribute('data-selected', 'true')
    store.updateState((state) => ({ ...state, selected: 0 }))
  }, [isCurrent])
  if (!isAsked) return null
  if (error !== null)
    return <Spotlight.Empty role="status">Quotes not searched: {error.message}</Spotlight.Empty>
  if (!isCurrent) return <Spotlight.Empty role="status">Searching quotes</Spotlight.Empty>
  if (data.lanes.length === 0)
    return <Spotlight.Empty role="status">No quote found for “{asked}”</Spotlight.Empty>
  return (
    <Spotlight.ActionsGroup label="Quotes">
      {data.lanes.map((quote) => (
        <Spotlight.Action
          key={quote.lane_ref}
          label={`${laneName(quote.origin, quote.destination)}, ${quote.customer_name}`}
          description={[
            quote.lane_ref,
            quote.external_id,
            quote.reference,
            dollarsIn(quote.quoted_rate, quote.quoted_currency),
            outcomeNames[shownOutcome(quote)],
          ]
            .filter((one) => one !== null)
            .join(' · ')}
          onClick={() => go(pagePaths.quote.replace('{lane_ref}', encodeURIComponent(quote.lane_ref)))}
        />
      ))}
      {(data.total ?? 0) > foundMax && (
        <Spotlight.Action
          label={`All ${counted(data.total ?? 0, 'offer')} with “${asked}”`}
          onClick={() => go(pagePaths.quotes, { q: asked })}
        />
      )}
    </Spotlight.ActionsGroup>
  )
}
