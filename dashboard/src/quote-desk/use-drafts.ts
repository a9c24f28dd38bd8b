import { useLocation } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { useSession } from '../api/index.ts'
import { useOwnAddress } from '../shared-ui/index.ts'
import { type Draft, quoteFromAddress } from './desk-draft.ts'
import {
  type Drafts,
  openDraft,
  saveDrafts,
  savedDrafts,
  withDraft,
  withNew,
  withNext,
  withOpen,
  without,
  withQuote,
} from './desk-drafts.ts'
import type { DeskSave } from './desk-save.ts'

/** The state of the desk's history entry, in addition to its address. */
interface EntryState {
  /** The id of the draft whose lane is in the address, so that a reload or Back opens it. Absent in a link from elsewhere. */
  readonly deskDraft?: number
  /** Set by N and "New quote" on other pages. */
  readonly deskBegins?: boolean
}

export const deskEntry = (state: EntryState) => state as never

/** The drafts after the page was opened at an address: a link begins a draft with its lane, N an empty one. */
function opened(
  drafts: Drafts,
  { deskDraft, deskBegins }: EntryState,
  search: Readonly<Record<string, string>>,
): Drafts {
  if (deskBegins === true) return withNew(drafts)
  const quote = quoteFromAddress(search)
  if (quote === null) return drafts
  const isKept = drafts.all.some(({ id }) => id === deskDraft)
  return isKept && deskDraft !== undefined ? withOpen(drafts, deskDraft) : withQuote(drafts, quote)
}

/** The drafts of this browser tab, and the open one. */
export function useDrafts(saving: DeskSave) {
  const { tenant } = useSession()
  // Both are from the location, because the search of the route is outdated during a navigation.
  const search = useLocation({ select: (at) => at.search as Readonly<Record<string, string>> })
  const entry = useLocation({ select: ({ state }) => state as EntryState })
  const [drafts, setDrafts] = useState(() => opened(savedDrafts(tenant.id), entry, search))
  useEffect(() => saveDrafts(tenant.id, drafts), [tenant.id, drafts])
  const { saved } = saving
  const isAsked =
    entry.deskBegins === true || (entry.deskDraft === undefined && quoteFromAddress(search) !== null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each link, when it is followed
  useEffect(() => {
    if (!isAsked || saving.saving) return
    saving.reset()
    setDrafts((before) => opened(before, entry, search))
  }, [isAsked, search.origin, search.destination, entry.deskBegins])
  const goOn = useOwnAddress(pagePaths.desk)
  useEffect(() => {
    if (saved === null) return
    // A reload after the save must not offer the same lane again.
    setDrafts(withNext)
    goOn({ search: {}, replace: true })
  }, [saved, goOn])
  const change = (to: (before: Drafts) => Drafts) => {
    // The open draft stays open during a save, because the answer belongs to it.
    if (saving.saving) return
    saving.reset()
    setDrafts(to)
  }
  return {
    drafts,
    draft: openDraft(drafts),
    onDraft: (to: (draft: Draft) => Draft) => setDrafts((before) => withDraft(before, drafts.openId, to)),
    begin: () => change((before) => withNew(before)),
    open: (id: number) => change((before) => withOpen(before, id)),
    discard: (id: number) => change((before) => without(before, id)),
    add: (draft: Draft) => change((before) => withNew(before, draft)),
    /** Adds drafts beside the open one, which stays open. */
    addBeside: (added: readonly Draft[]) => {
      if (added.length > 0)
        setDrafts((before) =>
          withOpen(
            added.reduce((all, draft) => withNew(all, draft), before),
            before.openId,
          ),
        )
    },
    /** Leaves one part in the open draft, and makes the other part a draft beside it. */
    split: (left: Draft, beside: Draft) =>
      change((before) =>
        withOpen(
          withNew(
            withDraft(before, before.openId, () => left),
            beside,
          ),
          before.openId,
        ),
      ),
  }
}

export type DraftActions = ReturnType<typeof useDrafts>
