import { quotesOfUsedPlacesMax, suggestionsDefault } from '#contract/limits.ts'
import { suggestCustomers, suggestPlaces } from '#contract/suggestions.ts'
import { locate } from '#geography/locate.ts'
import { placeName, readAnyPlace } from '#geography/read-place.ts'
import * as geography from '#geography/suggest-places.ts'
import { customersCalled, placeUses } from '../../database/queries/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'

function knownPlaceNamed(text: string): string | null {
  const read = readAnyPlace(text)
  const located = 'value' in read ? locate(read.value) : null
  return located === null ? null : placeName(located, located)
}

/** Suggestions while a person types a quote. */
export const suggestionEndpoints: ServedEndpoint[] = [
  serve(suggestPlaces, async ({ caller, query }, { database }) => {
    const uses = await database.inTenant(caller.tenant, (transaction) =>
      placeUses(transaction, caller.tenant, quotesOfUsedPlacesMax),
    )
    const text = query.q ?? ''
    const { places, asTyped } = geography.suggestPlaces(text, query.limit ?? suggestionsDefault, uses)
    return { reads_as: knownPlaceNamed(text), places: [...places], as_typed: asTyped }
  }),

  serve(suggestCustomers, async ({ caller, query }, { database }) => {
    const customers = await database.inTenant(caller.tenant, (transaction) =>
      customersCalled(transaction, caller.tenant, (query.q ?? '').trim(), query.limit ?? suggestionsDefault),
    )
    return {
      customers: customers.map(({ name, quotes, lastQuotedAt }) => ({
        name,
        quotes,
        last_quoted_at: lastQuotedAt.toISOString(),
      })),
    }
  }),
]
