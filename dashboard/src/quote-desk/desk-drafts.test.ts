import { expect, test } from 'vitest'
import { blankDraft, blankQuote, type Draft } from './desk-draft.ts'
import { type Drafts, openDraft, withDraft, withNew, withOpen, without, withQuote } from './desk-drafts.ts'

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

test('the oldest of many drafts is dropped', () => {
  let many = drafts
  for (let nth = 0; nth < 20; nth++) many = withNew(many, { ...blankDraft(), customer: `Customer ${nth}` })
  expect(many.all).toHaveLength(8)
  expect(openDraft(many).customer).toBe('Customer 19')
})
