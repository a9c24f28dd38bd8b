import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Quote } from '#contract/quote.ts'
import { type Answer, type Body, type CallFailed, quotesHaveChanged, useChange } from '../api/index.ts'
import { type Reason, reasonsToConfirm, useRateCheck } from '../shared-ui/index.ts'
import type { ChoiceName } from './requote-choices.ts'

/** The saved result: a requote, a request for approval, or a loss. */
export type Kept =
  | { readonly kind: 'quoted'; readonly lane: Answer<'requote'>; readonly isAnswer: boolean }
  | { readonly kind: 'asked'; readonly approvalId: number; readonly rate: number; readonly currency: string }
  | { readonly kind: 'declined'; readonly lane: Quote; readonly counterRate: number }

interface ToSave {
  readonly body: Body<'requote'>
  /** The request for advice on the requote, and the index of its rate in this request. */
  readonly advice: Body<'advise-quotes'>
  readonly index: number
  /** The advice that the dialog shows; null while there is none. */
  readonly seen: string | null
}

export interface Saving {
  /** The choice that was pressed last. */
  readonly choice: ChoiceName | null
  readonly isPending: boolean
  readonly error: CallFailed | null
  /** The reasons to check a requote's rate; empty before its button is pressed, or if there are none. */
  readonly toConfirm: (choice: ChoiceName, asked: ToSave) => readonly string[]
  /** Checks a requote, then saves it. If there are reasons to check its rate, it saves at the second call with the same values. */
  readonly save: (choice: 'accept' | 'requote', asked: ToSave) => Promise<void>
  readonly askApproval: (choice: 'accept' | 'requote', asked: ToSave) => void
  readonly decline: (counterRate: number, reason: Reason) => void
}

interface Found {
  readonly about: string
  readonly reasons: readonly string[]
  /** The advice that the rate was checked by. */
  readonly advice: string | null
}

const nothingFound: Found = { about: '', reasons: [], advice: null }
const adviceOf = ({ advice }: Pick<Found, 'advice'>) => (advice === null ? {} : { advice })
const aboutOf = (choice: ChoiceName, { body, advice }: Pick<ToSave, 'body' | 'advice'>) =>
  JSON.stringify([choice, body.quoted_rate, advice])

/** The reasons to check a rate, and the advice that it was checked by. */
function foundBy(
  about: string,
  { results, isUnchecked }: Awaited<ReturnType<ReturnType<typeof useRateCheck>>>,
  index: number,
): Found {
  const result = results[index]
  const reasons = isUnchecked
    ? ['It could not be compared with cost and going rate, because the service did not answer in time.']
    : reasonsToConfirm(result)
  return { about, reasons, advice: result?.status === 200 ? result.advice : null }
}

function askedFor(
  approvalId: number,
  quote: Quote,
  { quoted_rate: rate, quoted_currency }: Body<'requote'>,
): Kept {
  return { kind: 'asked', approvalId, rate, currency: quoted_currency ?? quote.quoted_currency ?? 'USD' }
}

/** Saves a requote, a request for its approval, or the loss of the quote with the rate that the customer named. */
export function useRequote(quote: Quote, onSaved: (kept: Kept) => void): Saving {
  const [choice, setChoice] = useState<ChoiceName | null>(null)
  const [found, setFound] = useState(nothingFound)
  const [isChecking, setChecking] = useState(false)
  const queries = useQueryClient()
  const check = useRateCheck()
  const requote = useChange('requote')
  const lose = useChange('set-outcome')
  const ask = useChange('ask-requote-approval')
  const params = { lane_ref: quote.lane_ref }
  const begin = (pressed: ChoiceName) => {
    setChoice(pressed)
    for (const change of [requote, lose, ask]) change.reset()
  }
  const changed = () => {
    void quotesHaveChanged(queries, [quote.lane_ref])
    for (const name of ['list-quotes', 'get-quote', 'get-quote-request'])
      void queries.invalidateQueries({ queryKey: [name] })
  }
  const isAbout = (pressed: ChoiceName, asked: ToSave) => found.about === aboutOf(pressed, asked)
  const isPending = isChecking || requote.isPending || lose.isPending || ask.isPending
  return {
    choice,
    isPending,
    error: requote.error ?? lose.error ?? ask.error,
    toConfirm: (pressed, asked) => (isAbout(pressed, asked) ? found.reasons : []),
    save: async (pressed, asked) => {
      if (isPending) return
      begin(pressed)
      let checked = found
      if (!isAbout(pressed, asked)) {
        setChecking(true)
        checked = foundBy(aboutOf(pressed, asked), await check(asked.advice), asked.index)
        setChecking(false)
        setFound(checked)
        if (checked.reasons.length > 0) return
      }
      requote.mutate(
        { params, body: { ...asked.body, ...adviceOf(checked) } },
        {
          onError: ({ code }) => {
            if (code !== 'state-conflict') return
            // The advice may be too old. The next save gets a new one.
            setFound(nothingFound)
            void queries.invalidateQueries({ queryKey: ['advise-quotes'] })
          },
          onSuccess: (made) => {
            onSaved({ kind: 'quoted', lane: made, isAnswer: asked.body.counter_rate !== undefined })
            changed()
          },
        },
      )
    },
    askApproval: (pressed, { body, seen }) => {
      begin(pressed)
      ask.mutate(
        { params, body: { ...body, ...adviceOf({ advice: seen }) } },
        {
          onSuccess: ({ approval_id }) => {
            onSaved(askedFor(approval_id, quote, body))
            void queries.invalidateQueries({ queryKey: ['list-approvals'] })
          },
        },
      )
    },
    decline: (counterRate, reason) => {
      begin('decline')
      lose.mutate(
        { params, body: { outcome: 'lost', reason, counter_rate: counterRate } },
        {
          onSuccess: (lost) => {
            onSaved({ kind: 'declined', lane: lost, counterRate })
            changed()
          },
        },
      )
    },
  }
}
