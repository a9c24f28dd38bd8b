import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Answer, type CallFailed, useChange, useSession } from '../api/index.ts'
import { validityChoices } from '../shared-ui/index.ts'
import { type DeskError, type Draft, errorsAt, gapsIn, quotesToSave, requestOf } from './desk-draft.ts'

export interface DeskSave {
  readonly saved: Answer<'create-quote-request'> | null
  readonly saving: boolean
  readonly failure: CallFailed | null
  /** True when the service did not confirm the request. Saving a changed request can then create a second quote. */
  readonly mayBeSaved: boolean
  readonly errors: readonly DeskError[]
  /** @param advice that the rates were checked by, by the number of the quote in the draft */
  readonly save: (draft: Draft, acceptUnknownPlaces: boolean, advice: ReadonlyMap<number, string>) => void
  /** The advice of the last save, for a request for approval. */
  readonly advice: ReadonlyMap<number, string>
  /** Removes the error of a field after the user changed the field. */
  readonly forget: (quoteId: number | null, field: DeskError['field']) => void
  readonly reset: () => void
}

/** Focuses the field of an error. */
function focusOn({ quoteId, field }: DeskError): void {
  const name = quoteId === null ? field : `${quoteId}-${field}`
  // The field may be rendered only together with its error, in the fields behind "More".
  setTimeout(() => document.querySelector<HTMLElement>(`[data-field="${name}"]`)?.focus(), 50)
}

const keyStorage = 'lanewise-request-key'

/**
 * The idempotency key of a request. Retries of the same request use the same key, so that a request that was saved without
 * a response is not saved twice. A changed request has a new key.
 */
function keyOf(request: object): string {
  const content = JSON.stringify(request)
  const [savedContent, key] = savedKey().split('\n')
  if (savedContent === content && key !== undefined) return key
  const fresh = crypto.randomUUID()
  saveKey(`${content}\n${fresh}`)
  return fresh
}

/** The key when the browser has no storage. */
let keyOfThisPage = ''

function savedKey(): string {
  try {
    return sessionStorage.getItem(keyStorage) ?? keyOfThisPage
  } catch {
    return keyOfThisPage
  }
}

function saveKey(text: string): void {
  keyOfThisPage = text
  try {
    sessionStorage.setItem(keyStorage, text)
  } catch {
    // No browser storage: keyOfThisPage has the key.
  }
}

function isWithoutAnswer({ code, status }: CallFailed): boolean {
  if (code === 'offline') return navigator.onLine
  return code === 'timed-out' || code === 'unreadable-answer' || status === 502 || status === 504
}

/** Saves the desk as a quote request. Calls during a running save are ignored. */
export function useDeskSave(): DeskSave {
  const create = useChange('create-quote-request')
  const { usual } = validityChoices(useSession().tenant.quote_expiry.valid_days)
  const queries = useQueryClient()
  const [errors, setErrors] = useState<readonly DeskError[]>([])
  const [mayBeSaved, setMayBeSaved] = useState(false)
  const busy = useRef(false)
  const show = (found: readonly DeskError[]) => {
    setErrors(found)
    if (found[0] !== undefined) focusOn(found[0])
  }
  const [advice, setAdvice] = useState<ReadonlyMap<number, string>>(new Map())
  const save: DeskSave['save'] = (draft, acceptUnknownPlaces, checkedBy) => {
    if (busy.current || create.isSuccess) return
    const gaps = gapsIn(draft)
    show(gaps)
    if (gaps.length > 0) {
      create.reset()
      return
    }
    busy.current = true
    setAdvice(checkedBy)
    // The key does not depend on the advice: the same request checked again is not another one.
    const request_key = keyOf(requestOf(draft, acceptUnknownPlaces, usual))
    const request = requestOf(draft, acceptUnknownPlaces, usual, checkedBy)
    create.mutate(
      { body: { ...request, request_key } },
      {
        onSuccess: (saved) => {
          saveKey('')
          void queries.invalidateQueries()
          const savedQuotes = saved.lanes.map(({ warnings: _, ...quote }) => quote)
          queries.setQueryData(['get-quote-request', { params: { request_id: saved.request_id } }], {
            ...saved,
            lanes: savedQuotes,
          })
        },
        onError: (error) => {
          if (error.code === 'request-key-reused') saveKey('')
          // The advice may be too old. The next save gets a new one.
          if (error.code === 'state-conflict') void queries.invalidateQueries({ queryKey: ['advise-quotes'] })
          // Evaluated now, because isWithoutAnswer depends on whether the browser is online.
          setMayBeSaved(isWithoutAnswer(error))
          show(errorsAt(error.errors, quotesToSave(draft)))
        },
        onSettled: () => {
          busy.current = false
        },
      },
    )
  }
  return {
    saved: create.data ?? null,
    saving: create.isPending,
    failure: create.error ?? null,
    mayBeSaved,
    errors,
    save,
    advice,
    forget: (quoteId, field) =>
      setErrors((all) => all.filter((error) => error.quoteId !== quoteId || error.field !== field)),
    reset: () => {
      create.reset()
      setErrors([])
    },
  }
}
