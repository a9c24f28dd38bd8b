import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type Answer, type CallFailed, useChange } from '../api/index.ts'
import { type DeskError, type Draft, errorsAt, gapsIn, lanesToSave, requestOf } from './desk-draft.ts'

export interface DeskSave {
  readonly saved: Answer<'create-quote-request'> | null
  readonly saving: boolean
  readonly failure: CallFailed | null
  /** The request was sent and no answer of the service's own came back: changed and saved again, it may be a second quote. */
  readonly mayBeSaved: boolean
  readonly errors: readonly DeskError[]
  readonly save: (draft: Draft, acceptUnknownPlaces: boolean) => void
  /** A field was changed: what was wrong with it no longer stands. */
  readonly forget: (laneId: number | null, field: DeskError['field']) => void
  readonly reset: () => void
}

/** Focus goes to the first field that is wrong. */
function focusOn({ laneId, field }: DeskError): void {
  const name = laneId === null ? field : `${laneId}-${field}`
  // The field may be drawn only with its error, behind "More".
  setTimeout(() => document.querySelector<HTMLElement>(`[data-field="${name}"]`)?.focus(), 50)
}

const keyPlace = 'lanewise-request-key'

/**
 * The key under which this very request is sent, again and again until an answer comes: one that was saved without our
 * hearing of it is then found, not made twice. Another request has another key.
 */
function keyOf(request: object): string {
  const words = JSON.stringify(request)
  const [held, key] = keptKey().split('\n')
  if (held === words && key !== undefined) return key
  const fresh = crypto.randomUUID()
  keepKey(`${words}\n${fresh}`)
  return fresh
}

/** Where the browser keeps nothing, the key lasts as long as the page. */
let keyOfThisPage = ''

function keptKey(): string {
  try {
    return sessionStorage.getItem(keyPlace) ?? keyOfThisPage
  } catch {
    return keyOfThisPage
  }
}

function keepKey(text: string): void {
  keyOfThisPage = text
  try {
    sessionStorage.setItem(keyPlace, text)
  } catch {
    // A browser that keeps nothing.
  }
}

function isWithoutAnswer({ code, status }: CallFailed): boolean {
  if (code === 'offline') return navigator.onLine
  return code === 'timed-out' || code === 'unreadable-answer' || status === 502 || status === 504
}

/** Saves the desk as a quote request, once however often it is asked to while one is on its way. */
export function useDeskSave(): DeskSave {
  const create = useChange('create-quote-request')
  const queries = useQueryClient()
  const [errors, setErrors] = useState<readonly DeskError[]>([])
  const [mayBeSaved, setMayBeSaved] = useState(false)
  const busy = useRef(false)
  const show = (found: readonly DeskError[]) => {
    setErrors(found)
    if (found[0] !== undefined) focusOn(found[0])
  }
  const save = (draft: Draft, acceptUnknownPlaces: boolean) => {
    if (busy.current || create.isSuccess) return
    const gaps = gapsIn(draft)
    show(gaps)
    if (gaps.length > 0) {
      create.reset()
      return
    }
    busy.current = true
    const request = requestOf(draft, acceptUnknownPlaces)
    create.mutate(
      { body: { ...request, request_key: keyOf(request) } },
      {
        onSuccess: () => {
          keepKey('')
          void queries.invalidateQueries()
        },
        onError: (error) => {
          if (error.code === 'request-key-reused') keepKey('')
          // As it was when the save failed: a connection that comes back later tells nothing about it.
          setMayBeSaved(isWithoutAnswer(error))
          show(errorsAt(error.errors, lanesToSave(draft)))
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
    forget: (laneId, field) =>
      setErrors((all) => all.filter((error) => error.laneId !== laneId || error.field !== field)),
    reset: () => {
      create.reset()
      setErrors([])
    },
  }
}
