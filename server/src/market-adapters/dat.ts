import { jsonHeaders } from './ask-rate.ts'
import type { AccessToken, MarketAdapter, ProviderFailure, Send } from './market-adapter.ts'
import {
  failureOf,
  isToken,
  keyRefused,
  membersOf,
  notJson,
  objectIn,
  positive,
  toCents,
  tokenMarginMs,
  unreadable,
} from './provider-answers.ts'

/**
 * The adapter for the rate lookups of DAT (RateView): a token of the organization (`client_id` is its service account,
 * `client_secret` the password), with it a token of the user, then `POST /linehaulrates/v1/lookups` for the spot rate, in
 * the area that fits the city pair best. The rate is what brokers pay carriers: linehaul per trip, without the fuel surcharge,
 * which is a separate amount.
 */
export function dat(urls: { readonly identity: string; readonly analytics: string }): MarketAdapter {
  const [identity, analytics] = [urls.identity, urls.analytics].map((url) => url.replace(/(?<!\/)\/+$/, ''))

  async function tokenOf(
    path: 'organization' | 'user',
    sent: object,
    by: string | null,
    { send, now }: { readonly send: Send; readonly now: number },
  ): Promise<AccessToken | ProviderFailure> {
    const posted = await send(`${identity}/access/v1/token/${path}`, {
      headers: jsonHeaders(by),
      body: JSON.stringify(sent),
    })
    if (posted.status === 400) return keyRefused
    if (posted.status !== 200) return failureOf(posted)
    const answer = membersOf(posted.text)
    if (answer === null) return notJson
    const { accessToken, expiresWhen } = answer
    const ends = typeof expiresWhen === 'string' ? Date.parse(expiresWhen) : Number.NaN
    if (!isToken(accessToken) || !(ends > now)) {
      return unreadable('The answer about the access token has no accessToken and expiresWhen.')
    }
    return { text: accessToken, until: ends - tokenMarginMs }
  }

  return {
    name: 'dat',
    equipments: { V: 'VAN', R: 'REEFER', F: 'FLATBED' },
    rateUrl: `${analytics}/linehaulrates/v1/lookups`,
    noRateStatuses: [400, 404, 422],

    async token({ client_id: username, client_secret: password, user }, at) {
      const ofOrganization = await tokenOf('organization', { username, password }, null, at)
      if ('failure' in ofOrganization) return ofOrganization
      return tokenOf('user', { username: user }, ofOrganization.text, at)
    },

    rateRequest: ({ origin, destination }, equipment) => {
      const [from, to] = [origin, destination].map(({ city, state }) => ({ city, stateOrProvince: state }))
      return [
        {
          origin: from,
          destination: to,
          rateType: 'SPOT',
          equipment,
          includeMyRate: false,
          targetEscalation: { escalationType: 'BEST_FIT' },
        },
      ]
    },

    amountsOf(answer) {
      const [first] = Array.isArray(answer.rateResponses) ? (answer.rateResponses as unknown[]) : []
      if (typeof first !== 'object' || first === null) return 'The answer has no rateResponses.'
      const response = objectIn(first as Record<string, unknown>, 'response')
      if (!('rate' in response)) return null
      const rate = objectIn(response, 'rate')
      const perTrip = objectIn(rate, 'perTrip')
      const mid = positive(perTrip.rateUsd)
      if (mid === null) return 'The answer has no positive perTrip.rateUsd.'
      const [low, high, miles, fuelPerMile, reports] = [
        positive(perTrip.lowUsd),
        positive(perTrip.highUsd),
        positive(rate.mileage),
        positive(rate.averageFuelSurchargePerMileUsd),
        positive(rate.reports),
      ]
      return {
        basis: 'linehaul',
        currency: 'USD',
        mid: toCents(mid),
        ...(low === null ? {} : { low: toCents(low) }),
        ...(high === null ? {} : { high: toCents(high) }),
        // Computed from the surcharge per mile, because the one per trip is in dollars per mile in some answers.
        ...(fuelPerMile === null || miles === null ? {} : { fuel: toCents(fuelPerMile * miles) }),
        ...(reports === null ? {} : { sample: Math.round(reports) }),
        ...(miles === null ? {} : { miles }),
      }
    },
  }
}
