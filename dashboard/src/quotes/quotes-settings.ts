import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { QuoteListSettings, QuoteView } from '#contract/quote-list-settings.ts'
import { builtInViews } from '#contract/quote-views.ts'
import { CallFailed, call, useAnswer, useSession } from '../api/index.ts'
import { useNotice } from '../shared-ui/index.ts'

export const [allQuotes, myQuotes, pendingTooLong] = builtInViews

type Change = Partial<Omit<QuoteListSettings, 'version'>>

const listKey = ['get-quote-list-settings', {}] as const

/** The saved views and columns of the signed-in person, and a function that changes them. */
export function useQuotesSettings() {
  const answer = useAnswer('get-quote-list-settings', {}, { staleMs: 60_000 })
  const queries = useQueryClient()
  const notify = useNotice()
  const [isSaving, setIsSaving] = useState(false)
  const { user } = useSession()
  const settings = answer.data ?? null

  /**
   * Applies `change` to the current settings and saves the result. If another window changed them, it is applied to the newer ones.
   * Throws the failure of the call.
   */
  const save = async (change: (now: QuoteListSettings) => Change): Promise<void> => {
    setIsSaving(true)
    try {
      let now = settings ?? (await call('get-quote-list-settings'))
      const send = () =>
        call('change-quote-list-settings', { body: { ...change(now), version: now.version } })
      const saved = await send().catch(async (error: unknown) => {
        if (!(error instanceof CallFailed) || error.code !== 'state-conflict') throw error
        now = await call('get-quote-list-settings')
        return send()
      })
      queries.setQueryData(listKey, saved)
    } finally {
      setIsSaving(false)
    }
  }

  return {
    settings,
    isLoading: answer.isPending,
    /** The name of the view that the page opens with. */
    defaultView: settings?.default_view ?? allQuotes,
    isSaving,
    save,
    saveOrNotify: (change: (now: QuoteListSettings) => Change): Promise<void> =>
      save(change).catch((error: unknown) =>
        notify(`Not saved. ${error instanceof CallFailed ? error.message : 'Try again.'}`, { failed: true }),
      ),
    /** The built-in views, then the saved ones. */
    views: [
      { name: allQuotes, query: '', columns: settings?.columns ?? [] },
      { name: myQuotes, query: `quoted_by=${user.id}`, columns: settings?.columns ?? [] },
      {
        name: pendingTooLong,
        query: `pending_days=${settings?.pending_days ?? ''}&sort=oldest`,
        columns: settings?.columns ?? [],
      },
      ...(settings?.views ?? []),
    ] satisfies QuoteView[],
  }
}
export type QuotesSettings = ReturnType<typeof useQuotesSettings>

/** True for a view that every person has. It cannot be renamed or deleted. */
export function isBuiltIn(name: string): boolean {
  return builtInViews.some((one) => isSameName(one, name))
}

/** Case and surrounding spaces do not distinguish names of views. */
export function isSameName(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
}
