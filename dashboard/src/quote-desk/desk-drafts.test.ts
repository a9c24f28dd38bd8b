import { expect, test, vi } from 'vitest'
import { blankDraft, blankQuote, type Draft, isBlank } from './desk-draft.ts'
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

const { id: _, ...blank } = blankQuote(0)
const quote = { ...blank, origin: 'Dallas, TX', destination: 'Atlanta, GA' }
const yesterday: Draft = { ...blankDraft(), customer: 'Harvest Table Foods', lanes: [{ ...quote, id: 1 }] }
const drafts: Drafts = { all: [{ id: 1, draft: yesterday }], openId: 1 }

test('a link and N begin an empty form; what was typed stays in another draft', () => {
  for (const next of [withNew(drafts), withQuote(drafts, quote)]) {
    expect(next.all).toHaveLength(2)
    expect(openDraft(next)).toMatchObject({ customer: '', reference: '' })
    expect(openDraft(withOpen(next, 1))).toBe(yesterday)
  }
  expect(openDraft(withQuote(drafts, quote)).lanes).toMatchObject([quote])
})

test('a blank draft is dropped, and the same link opens the same draft', () => {
  const begun = withNew(drafts)
  expect(withNew(begun)).toBe(begun)
  expect(withOpen(begun, 1).all).toHaveLength(1)
  expect(withQuote(begun, quote).all).toHaveLength(2)
  const linked = withQuote(drafts, quote)
  expect(withQuote(linked, quote)).toBe(linked)
  // With a customer, the draft is more than the link's lane, so the link begins another draft.
  const named = withDraft(linked, linked.openId, (draft) => ({ ...draft, customer: 'Acme' }))
  expect(withQuote(named, quote).all).toHaveLength(3)
})

test('after the open draft is removed, the form is empty, with another id', () => {
  const left = without(drafts, 1)
  expect([left.all.length, left.openId, openDraft(left)]).toEqual([1, 2, blankDraft()])
  const two = withNew(drafts)
  expect(openDraft(without(two, 1))).toBe(openDraft(two))
})

test('after a save, the next draft opens, then those before it, then an empty one', () => {
  const named = (customer: string): Draft => ({ ...yesterday, customer })
  let waiting = withOpen(withNew(withNew(drafts, named('B')), named('C')), 2)
  const opened: string[] = []
  while (opened.at(-1) !== '') {
    waiting = withNext(waiting)
    opened.push(openDraft(waiting).customer)
  }
  expect(opened).toEqual(['C', 'Harvest Table Foods', ''])
  expect(waiting.all).toHaveLength(1)
  // A blank draft beside the saved one is none that waits.
  expect(openDraft(withNext(withOpen(withNew(drafts), 1)))).toEqual(blankDraft())
})

test('the oldest of many drafts is dropped', () => {
  let many = drafts
  for (let nth = 0; nth < 20; nth++) many = withNew(many, { ...blankDraft(), customer: `Customer ${nth}` })
  expect(many.all).toHaveLength(8)
  expect(openDraft(many).customer).toBe('Customer 19')
})

/** The drafts that are read from a value in the storage of the browser. */
function readFrom(kept: unknown): Drafts {
  const stored = new Map([['lanewise-desk-1', JSON.stringify(kept)]])
  const sessionStorage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, text: string) => stored.set(key, text),
  }
  vi.stubGlobal('sessionStorage', sessionStorage)
  try {
    const drafts = savedDrafts(1)
    saveDrafts(1, drafts)
    expect(savedDrafts(1)).toEqual(drafts)
    return drafts
  } finally {
    vi.unstubAllGlobals()
  }
}

test('drafts of an earlier or later version are read: fields that it lacks are blank, and others are dropped', () => {
  const typed = { origin: 'Dallas, TX', destination: 'Atlanta, GA', rate: '2,150' }
  const read = { ...blankQuote(1), ...typed }
  const earlier = {
    customer: 'Acme',
    lanes: [
      { id: 4, ...typed },
      { id: 4, ...typed },
    ],
  }
  const draft = { customer: 'Acme', reference: '', lanes: [read, { ...read, id: 2 }] }
  expect(readFrom(earlier)).toEqual({ all: [{ id: 1, draft }], openId: 1 })
  expect(readFrom({ all: [{ id: 7, draft: earlier }], openId: 7 })).toEqual({
    all: [{ id: 7, draft }],
    openId: 7,
  })

  const stops = ['Memphis, TN']
  const later = {
    ...draft,
    validHours: 24,
    notes: [1],
    lanes: [{ ...read, stops, temperature: 34, miles: 792 }],
  }
  const [found] = readFrom({ all: [{ id: 7, draft: later }], openId: 7, order: 'newest' }).all
  expect(found?.draft).toEqual({ ...draft, validHours: 24, lanes: [read] })
  expect(found?.draft.lanes.some(isBlank)).toBe(false)
})

test('a draft that cannot be read is left out, and no other one', () => {
  const kept = { id: 3, draft: yesterday }
  const broken = [null, 'draft', { id: 1 }, { id: 2, draft: { lanes: 'none' } }, { draft: yesterday }]
  expect(readFrom({ all: [...broken, kept], openId: 2 })).toEqual({ all: [kept], openId: 3 })
  for (const nothing of [null, 'drafts', [], {}, { all: broken, openId: 1 }, { lanes: [] }])
    expect(readFrom(nothing)).toEqual({ all: [{ id: 1, draft: blankDraft() }], openId: 1 })
})
