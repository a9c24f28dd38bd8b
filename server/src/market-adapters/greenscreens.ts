import { stateCountry } from '#engine/states.ts'
import type { MarketAdapter } from './market-adapter.ts'
import {
  failureOf,
  isToken,
  keyRefused,
  membersOf,
  notJson,
  positive,
  toCents,
  tokenMarginMs,
  unreadable,
} from './provider-answers.ts'

/**
 * The adapter for the Prediction API, version 3, of Greenscreens (Triumph Intelligence), as published at
 * https://connect.greenscreens.ai/openapi.yaml: `POST /v1/auth/token` with the client id and secret, then
 * `POST /v3/prediction/rates`. The buy rates are dollars per mile with fuel; times `distance`, they are an all-in rate per
 * load. Hotshot rates need an arrangement with the provider.
 */
export function greenscreens(baseUrl: string): MarketAdapter {
  const base = baseUrl.replace(/(?<!\/)\/+$/, '')
  return {
    name: 'greenscreens',
    equipments: { V: 'VAN', R: 'REEFER', F: 'FLATBED' },
    rateUrl: `${base}/v3/prediction/rates`,
    noRateStatuses: [400, 422],

    async token({ client_id = '', client_secret = '' }, { send, now }) {
      const posted = await send(`${base}/v1/auth/token`, {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
        body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }).toString(),
      })
      if (posted.status === 400) return keyRefused
      if (posted.status !== 200) return failureOf(posted)
      const answer = membersOf(posted.text)
      if (answer === null) return notJson
      const { access_token: text, expires_in: seconds } = answer
      if (!isToken(text) || typeof seconds !== 'number') {
        return unreadable('The answer about the access token has no access_token and expires_in.')
      }
      return { text, until: now + seconds * 1000 - tokenMarginMs }
    },

    rateRequest: ({ origin, destination }, transportType, now) => ({
      pickupDateTime: new Date(now).toISOString(),
      transportType,
      stops: [origin, destination].map(({ city, state }, order) => ({
        order,
        country: stateCountry(state),
        city,
        state,
      })),
      currency: 'USD',
    }),

    amountsOf({ lowBuyRate, targetBuyRate, highBuyRate, distance, currency }) {
      const [low, mid, high] = [positive(lowBuyRate), positive(targetBuyRate), positive(highBuyRate)]
      const miles = positive(distance)
      if (low === null || mid === null || high === null || miles === null) {
        return 'The answer has no positive lowBuyRate, targetBuyRate, highBuyRate and distance.'
      }
      if (typeof currency !== 'string') return 'The answer has no currency.'
      const [perLoad, basis] = [(perMile: number) => toCents(perMile * miles), 'all_in' as const]
      return { basis, currency, low: perLoad(low), mid: perLoad(mid), high: perLoad(high), miles }
    },
  }
}
