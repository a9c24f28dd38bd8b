import { blankDraft, type DeskQuote, type Draft, isBlank, readDraft } from './desk-draft.ts'

/** The drafts of a browser tab, one of which is open. A link to a lane, and N, begin another draft. */
export interface Drafts {
  readonly all: readonly SavedDraft[]
  readonly openId: number
}

interface SavedDraft {
  readonly id: number
  readonly draft: Draft
}

/** The maximum number of drafts, more than a person remembers. Beyond it, the oldest draft is dropped. */
export const draftsMax = 8

const one = (draft: Draft): Drafts => ({ all: [{ id: 1, draft }], openId: 1 })

export function openDraft({ all, openId }: Drafts): Draft {
  return all.find(({ id }) => id === openId)?.draft ?? blankDraft()
}

/** True when nothing is typed in a draft. */
export function isBlankDraft({ customer, reference, lanes: quotes }: Draft): boolean {
  return customer.trim() === '' && reference.trim() === '' && quotes.every(isBlank)
}

/** Begins a draft beside the others. It replaces a blank open draft. */
export function withNew(drafts: Drafts, draft: Draft = blankDraft()): Drafts {
  const { all, openId } = drafts
  if (isBlankDraft(openDraft(drafts)) && isBlankDraft(draft)) return drafts
  const id = Math.max(0, ...all.map((kept) => kept.id)) + 1
  const kept = all.filter((each) => !(each.id === openId && isBlankDraft(each.draft)))
  return { all: [...kept.slice(1 - draftsMax), { id, draft }], openId: id }
}

/** Opens the draft that has only this lane, or begins one. A link never adds to another draft. */
export function withQuote(drafts: Drafts, quote: Omit<DeskQuote, 'id'>): Drafts {
  const draft: Draft = { ...blankDraft(), lanes: [{ ...quote, id: 1 }] }
  const same = drafts.all.find((kept) => isSameQuoteOnly(kept.draft, quote))
  if (same === undefined) return withNew(drafts, draft)
  return same.id === drafts.openId ? drafts : { ...drafts, openId: same.id }
}

function isSameQuoteOnly(
  { customer, reference, lanes: quotes }: Draft,
  quote: Omit<DeskQuote, 'id'>,
): boolean {
  const [only] = quotes.length === 1 ? quotes : []
  if (only === undefined || customer.trim() !== '' || reference.trim() !== '') return false
  const { id: _, ...typed } = only
  return JSON.stringify(typed) === JSON.stringify(quote)
}

/** Opens another draft, and drops the previous one if it is blank. */
export function withOpen(drafts: Drafts, openId: number): Drafts {
  const { all } = drafts
  if (openId === drafts.openId || !all.some(({ id }) => id === openId)) return drafts
  return { all: all.filter(({ id, draft }) => id === openId || !isBlankDraft(draft)), openId }
}

export function withDraft({ all, openId }: Drafts, id: number, change: (draft: Draft) => Draft): Drafts {
  return {
    all: all.map((kept) => (kept.id === id ? { id, draft: change(kept.draft) } : kept)),
    openId,
  }
}

/** Removes the open draft, which is saved, and opens the next one that waits; a blank one if none does. */
export function withNext(drafts: Drafts): Drafts {
  const at = drafts.all.findIndex(({ id }) => id === drafts.openId)
  const waits = [...drafts.all.slice(at + 1), ...drafts.all.slice(0, Math.max(0, at))]
  const next = waits.find(({ draft }) => !isBlankDraft(draft))
  const left = without(drafts, drafts.openId)
  return next === undefined ? left : withOpen(left, next.id)
}

/** Removes a draft. If it was open, opens a blank draft. */
export function without(drafts: Drafts, id: number): Drafts {
  const left = { ...drafts, all: drafts.all.filter((kept) => kept.id !== id) }
  if (id !== drafts.openId) return left
  // An id that no draft has, so that the form is reset.
  const next = Math.max(...drafts.all.map((kept) => kept.id)) + 1
  return { all: [...left.all, { id: next, draft: blankDraft() }], openId: next }
}

const storedUnder = (tenantId: number) => `lanewise-desk-${tenantId}`

/** The drafts from before a reload; a blank one if there is none. Each tab of the browser has its own. */
export function savedDrafts(tenantId: number): Drafts {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(storedUnder(tenantId)) ?? 'null')
    // An earlier version saved one draft.
    const draft = readDraft(kept)
    return draft === null ? (readDrafts(kept) ?? one(blankDraft())) : one(draft)
  } catch {
    return one(blankDraft())
  }
}

export function saveDrafts(tenantId: number, drafts: Drafts): void {
  try {
    sessionStorage.setItem(storedUnder(tenantId), JSON.stringify(drafts))
  } catch {
    // Without browser storage, the drafts are lost on reload.
  }
}

/** The saved drafts that can be read; null if there are none. */
function readDrafts(kept: unknown): Drafts | null {
  if (typeof kept !== 'object' || kept === null) return null
  const { all, openId } = kept as Partial<Record<keyof Drafts, unknown>>
  if (!Array.isArray(all)) return null
  const drafts = all.flatMap((saved: unknown) => {
    const { id, draft } = (saved ?? {}) as Partial<Record<keyof SavedDraft, unknown>>
    const read = readDraft(draft)
    return typeof id === 'number' && read !== null ? [{ id, draft: read }] : []
  })
  const [first] = drafts
  if (first === undefined) return null
  return { all: drafts, openId: drafts.some(({ id }) => id === openId) ? Number(openId) : first.id }
}
