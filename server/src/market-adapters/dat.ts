import { stateCountry } from '#engine/states.ts'
import {
  type MarketAdapter,
  type Provided,
  type ProvidedRate,
  type Send,
  sourceOfAdapter,
  type WantedLane,
} from './market-adapter.ts'
import {
  type AccessToken,
  accessTokens,
  failureOf,
  isToken,
  keyRefused,
  membersOf,
  objectIn,
  tokenMarginMs,
  unreadable,
} from './provider-answers.ts'

const equipments: Readonly<Record<string, string>> = { V: 'VAN', R: 'REEFER', F: 'FLATBED' }

/**
 * The adapter for the rate lookups of DAT (RateView): a token of the organization (`client_id` is its service account,
 * `client_secret` the password), with it a token of the user, then `POST /linehaulrates/v1/lookups` for the spot rate, in
 * the area that fits the city pair best. The rate is linehaul per trip, and what brokers pay carriers; the fuel surcharge is
 * beside it. Tokens stay in memory, one per key.
 */
export function dat(urls: { readonly identity: string; readonly analytics: string }): MarketAdapter {
  const [identity, analytics] = [urls.identity, urls.analytics].map((url) => url.replace(/\/+$/, ''))
  const tokens = accessTokens()

  const json = (token: string | null) => ({
    'Content-Type': 'application/json',
    Accept: 'application/json',
    ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
  })

  async function tokenOf(
    path: 'organization' | 'user',
    sent: object,
    by: string | null,
    send: Send,
    now: number,
  ): Promise<AccessToken | Provided> {
    const posted = await send(`${identity}/access/v1/token/${path}`, {
      headers: json(by),
      body: JSON.stringify(sent),
    })
    if (posted.status === 400) return keyRefused
    if (posted.status !== 200) return failureOf(posted)
    const { accessToken, expiresWhen } = membersOf(posted.text)
    const ends = typeof expiresWhen === 'string' ? Date.parse(expiresWhen) : Number.NaN
    if (!isToken(accessToken) || !(ends > now)) {
      return unreadable('The answer about the access token has no accessToken and expiresWhen.')
    }
    return { text: accessToken, until: ends - tokenMarginMs }
  }

  async function tokenFor(key: string, send: Send, now: number): Promise<AccessToken | Provided> {
    const kept = tokens.get(key, now)
    if (kept !== null) return kept
    const { client_id: username, client_secret: password, user } = JSON.parse(key) as Record<string, string>
    const ofOrganization = await tokenOf('organization', { username, password }, null, send, now)
    if (!('text' in ofOrganization)) return ofOrganization
    const token = await tokenOf('user', { username: user }, ofOrganization.text, send, now)
    if ('text' in token) tokens.keep(key, token)
    return token
  }

  return {
    name: 'dat',
    covers: ({ origin, destination, equipmentCode }) =>
      Object.hasOwn(equipments, equipmentCode) &&
      [origin, destination].every(({ state }) => stateCountry(state) !== 'MX'),
    async ask(key, lane, { send, now }) {
      const token = await tokenFor(key, send, now)
      if (!('text' in token)) return token
      const posted = await send(`${analytics}/linehaulrates/v1/lookups`, {
        headers: json(token.text),
        body: JSON.stringify([requestOf(lane)]),
      })
      if (posted.status === 401) tokens.forget(key)
      // The provider has no rate for such a lane: asking again would not help, and the key is good.
      if (posted.status === 400 || posted.status === 404 || posted.status === 422) return { rate: null }
      if (posted.status !== 200) return failureOf(posted)
      const rate = rateOf(membersOf(posted.text), lane, now)
      return typeof rate === 'string' ? unreadable(rate) : { rate }
    },
  }
}

function requestOf({ origin, destination, equipmentCode }: WantedLane) {
  const end = ({ city, state }: WantedLane['origin']) => ({ city, stateOrProvince: state })
  return {
    origin: end(origin),
    destination: end(destination),
    rateType: 'SPOT',
    equipment: equipments[equipmentCode],
    includeMyRate: false,
    targetEscalation: { escalationType: 'BEST_FIT' },
  }
}

const positive = (value: unknown): number | null => (typeof value === 'number' && value > 0 ? value : null)
const toCents = (dollars: number) => Math.round(dollars * 100) / 100

/** The rate of an answer in dollars per load; null if the provider has none for the lane; else what is wrong with the answer. */
function rateOf(
  answer: Readonly<Record<string, unknown>>,
  { origin, destination, equipmentCode }: WantedLane,
  now: number,
): ProvidedRate | null | string {
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
    scope: 'lane',
    origin: `${origin.city}, ${origin.state}`,
    destination: `${destination.city}, ${destination.state}`,
    equipment: equipmentCode,
    basis: 'linehaul',
    kind: 'buy',
    currency: 'USD',
    mid: toCents(mid),
    ...(low === null ? {} : { low: toCents(low) }),
    ...(high === null ? {} : { high: toCents(high) }),
    // Per mile times the miles: the surcharge per trip is stated per mile by some answers.
    ...(fuelPerMile === null || miles === null ? {} : { fuel: toCents(fuelPerMile * miles) }),
    ...(reports === null ? {} : { sample: Math.round(reports) }),
    source: sourceOfAdapter.dat,
    as_of: new Date(now).toISOString(),
  }
}
