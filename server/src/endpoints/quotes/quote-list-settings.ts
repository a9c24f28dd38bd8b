import { type FieldError, invalid, problem } from '#contract/errors.ts'
import {
  changeQuoteListSettings,
  getQuoteListSettings,
  type QuoteListSettings,
  usualQuoteListSettings,
} from '#contract/quote-list-settings.ts'
import { builtInViews } from '#contract/quote-views.ts'
import { quoteListSettings as stored } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'

/** Names of views are compared without case and surrounding spaces. */
const folded = (name: string) => name.trim().toLowerCase()

function checkNames({ views, default_view: chosen }: Omit<QuoteListSettings, 'version'>): void {
  const errors: FieldError[] = []
  const names = new Set<string>(builtInViews.map(folded))
  for (const [index, { name }] of views.entries()) {
    if (names.has(folded(name))) {
      const detail = `There is another view named "${name}". Choose a different name.`
      errors.push({ pointer: `/views/${index}/name`, code: 'repeated', detail })
    }
    names.add(folded(name))
  }
  if (!names.has(folded(chosen))) {
    const detail = `There is no view named "${chosen}". Send default_view with the name of another view, such as "${builtInViews[0]}".`
    errors.push({ pointer: '/default_view', code: 'invalid', detail })
  }
  if (errors.length > 0) throw invalid(errors)
}

function changedElsewhere() {
  return problem(
    'state-conflict',
    'Your views were changed in another window after this page loaded them. Nothing was saved. Load them again, then repeat the change.',
  )
}

async function settingsOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<QuoteListSettings> {
  const found = await stored.findQuoteListSettings(transaction, tenant, userId)
  return found === null ? usualQuoteListSettings : { ...found.settings, version: found.version }
}

export const quoteListSettingsEndpoints: ServedEndpoint[] = [
  serve(getQuoteListSettings, async ({ caller: { tenant, userId } }, { database }) =>
    database.inTenant(tenant, (transaction) => settingsOf(transaction, tenant, userId)),
  ),

  serve(changeQuoteListSettings, async ({ caller: { tenant, userId }, body }, { database }) =>
    database.inTenant(tenant, async (transaction) => {
      const { version, ...before } = await settingsOf(transaction, tenant, userId)
      if (version !== body.version) throw changedElsewhere()
      const { version: _, ...changed } = body
      const settings = { ...before, ...changed }
      checkNames(settings)
      const isSaved = await stored.saveQuoteListSettings(transaction, tenant, userId, { version, settings })
      // Another window saved settings after this request read them.
      if (!isSaved) throw changedElsewhere()
      return { ...settings, version: version + 1 }
    }),
  ),
]
