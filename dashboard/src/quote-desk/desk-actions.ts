import { type KeyboardEvent, useMemo, useRef, useState } from 'react'
import { readDollars, type TypedField, useShortcuts } from '../shared-ui/index.ts'
import type { DeskAnswer } from './desk-answer.ts'
import { type DeskQuote, type Draft, gapsIn } from './desk-draft.ts'
import { type Pricing, pricingOf } from './desk-pricing.ts'
import { type CheckedRates, type QuotesAdvice, useDraftCheck } from './desk-quotes-advice.ts'
import type { DeskSave } from './desk-save.ts'

/** Moves the focus to a field of a quote, after the quote was rendered. Its text is selected, as by Tab: typing replaces it. */
export function focusQuote(id: number, field: TypedField = 'origin'): void {
  setTimeout(() => {
    const input = document.querySelector<HTMLInputElement>(`[data-field="${id}-${field}"]`)
    input?.focus()
    input?.select()
  }, 0)
}

/** Moves the focus to the customer, where a quote begins. */
export function focusCustomer(): void {
  setTimeout(() => document.querySelector<HTMLElement>('[data-field="customer"]')?.focus(), 0)
}

/** A dialog returns the focus a moment after it closes. */
const dialogClosesMs = 60

/** Moves the focus to the rate of a quote, or to the customer, after a dialog has closed. */
export function focusAfterDialog(quoteId: number | null): void {
  setTimeout(() => (quoteId === null ? focusCustomer() : focusQuote(quoteId, 'rate')), dialogClosesMs)
}

/** Ctrl or ⌘ + Enter saves, from every field of the desk. Keys that are pressed in a dialog reach the desk, too, and are not its own. */
export function onSaveKey(event: KeyboardEvent, save: () => void): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  if (!(event.target instanceof Node && event.currentTarget.contains(event.target))) return
  event.preventDefault()
  save()
}

/** The rates to confirm before the save, because they look wrong or could not be checked. */
export type ToConfirm = Pick<CheckedRates, 'toConfirm' | 'isUnchecked'>
const nothing: CheckedRates = { toConfirm: [], isUnchecked: false, advice: new Map() }

/** Saves the draft, after one confirmation when a rate is far from cost, minimum or going rate, or could not be checked. */
export function useConfirmedSave(
  { draft, saving }: { readonly draft: Draft; readonly saving: DeskSave },
  advised: QuotesAdvice,
) {
  const [toConfirm, setToConfirm] = useState(nothing)
  const [checking, setChecking] = useState(false)
  const busy = useRef(false)
  const confirmed = useRef({ content: '', advice: nothing.advice })
  // A save was refused because its advice is too old.
  const isStale = saving.failure?.code === 'state-conflict'
  const checkRates = useDraftCheck(advised, isStale)
  return {
    toConfirm,
    checking,
    /** Checks and saves the draft as it is now. A confirmed draft needs no second confirmation. */
    begin: async (acceptUnknown: boolean, asked: Draft = draft) => {
      if (busy.current) return
      const content = JSON.stringify(asked)
      let { advice } = confirmed.current
      if (gapsIn(asked).length === 0 && (isStale || confirmed.current.content !== content)) {
        busy.current = true
        setChecking(true)
        const found = await checkRates(asked)
        busy.current = false
        setChecking(false)
        if (found.toConfirm.length > 0 || found.isUnchecked) {
          setToConfirm(found)
          return
        }
        advice = found.advice
      }
      saving.save(asked, acceptUnknown, advice)
    },
    confirm: (acceptUnknown: boolean) => {
      const { advice } = toConfirm
      confirmed.current = { content: JSON.stringify(draft), advice }
      setToConfirm(nothing)
      saving.save(draft, acceptUnknown, advice)
    },
    goBack: () => {
      const [first] = toConfirm.toConfirm
      setToConfirm(nothing)
      const quote = first?.lane ?? draft.lanes[0]
      if (quote !== undefined) focusQuote(quote.id, 'rate')
    },
  }
}

/** The shortcuts of the desk. Its fields handle Enter and Ctrl (or ⌘) + Enter themselves. */
export function useDeskKeys(takeBest: (() => void) | null, begin: () => void) {
  useShortcuts('Quote desk', [
    {
      keys: ['N'],
      does: 'New quote; this one stays as a draft',
      on: ['n'],
      run: () => {
        begin()
        focusCustomer()
      },
    },
    { keys: ['Enter'], does: 'Next quote, from the last field of a quote' },
    { keys: ['Ctrl or ⌘', 'Enter'], does: 'Save' },
    { keys: ['Alt', 'U'], does: 'Use the rate to quote', on: ['Alt+KeyU'], run: () => takeBest?.() },
  ])
}

/** The rates for the active quote, from its advice with the rules that apply, and its typed cost. */
export function usePricing(quote: DeskQuote, { advice, exact }: DeskAnswer): Pricing | null {
  const typedCost = readDollars(quote.cost)
  return useMemo(
    () => (advice === null ? null : pricingOf(advice, typedCost, exact)),
    [advice, typedCost, exact],
  )
}
