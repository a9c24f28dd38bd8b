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
  tokenMarginMs,
  unreadable,
} from './provider-answers.ts'

/** The equipment that the provider predicts rates of. Hotshot needs an arrangement with the provider. */
const transportTypes: Readonly<Record<string, string>> = { V: 'VAN', R: 'REEFER', F: 'FLATBED' }

/**
 * The adapter for the Prediction API, version 3, of Greenscreens (Triumph Intelligence), as published at
 * https://connect.greenscreens.ai/openapi.yaml: `POST /v1/auth/token` with the client id and secret, then
 * `POST /v3/prediction/rates`. The buy rates are dollars per mile with fuel; times `distance`, they are an all-in rate per
 * load. Access tokens stay in memory, one per key.
 */
export function greenscreens(baseUrl: string): MarketAdapter {
  const base = baseUrl.replace(/\/+$/, '')
  const tokens = accessTokens()

  async function tokenFor(key: string, send: Send, now: number): Promise<AccessToken | Provided> {
    const kept = tokens.get(key, now)
    if (kept !== null) return kept
    const { client_id, client_secret } = JSON.parse(key) as Record<string, string>
    const posted = await send(`${base}/v1/auth/token`, {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: client_id ?? '',
        client_secret: client_secret ?? '',
      }).toString(),
    })
    if (posted.status === 400) return keyRefused
    if (posted.status !== 200) return failureOf(posted)
    const { access_token: text, expires_in: seconds } = membersOf(posted.text)
    if (!isToken(text) || typeof seconds !== 'number') {
      return unreadable('The answer about the access token has no access_token and expires_in.')
    }
    const token = { text, until: now + seconds * 1000 - tokenMarginMs }
    tokens.keep(key, token)
    return token
  }

  return {
    name: 'greenscreens',
    covers: ({ origin, destination, equipmentCode }) =>
      Object.hasOwn(transportTypes, equipmentCode) &&
      [origin, destination].every(({ state }) => stateCountry(state) !== 'MX'),
    async ask(key, lane, { send, now }) {
      const token = await tokenFor(key, send, now)
      if (!('text' in token)) return token
      const posted = await send(`${base}/v3/prediction/rates`, {
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json',
          Authorization: `Bearer ${token.text}`,
        },
        body: JSON.stringify(requestOf(lane, now)),
      })
      if (posted.status === 401) tokens.forget(key)
      // The provider cannot price such a lane: asking again would not help, and the key is good.
      if (posted.status === 400 || posted.status === 422) return { rate: null }
      if (posted.status !== 200) return failureOf(posted)
      const rate = rateOf(membersOf(posted.text), lane, now)
      return typeof rate === 'string' ? unreadable(rate) : { rate }
    },
  }
}

function requestOf({ origin, destination, equipmentCode }: WantedLane, now: number) {
  return {
    pickupDateTime: new Date(now).toISOString(),
    transportType: transportTypes[equipmentCode],
    stops: [origin, destination].map(({ city, state }, order) => ({
      order,
      country: stateCountry(state),
      city,
      state,
    })),
    currency: 'USD',
  }
}

/** The rate of an answer in dollars per load, or what is wrong with the answer. */
function rateOf(
  answer: Readonly<Record<string, unknown>>,
  { origin, destination, equipmentCode }: WantedLane,
  now: number,
): ProvidedRate | string {
  const amounts = ['lowBuyRate', 'targetBuyRate', 'highBuyRate', 'distance'].map((name) => answer[name])
  const [low = 0, mid = 0, high = 0, miles = 0] = amounts.filter(
    (one) => typeof one === 'number' && one > 0,
  ) as number[]
  if (miles === 0) {
    return 'The answer has no positive lowBuyRate, targetBuyRate, highBuyRate and distance.'
  }
  if (typeof answer.currency !== 'string') return 'The answer has no currency.'
  const perLoad = (perMile: number) => Math.round(perMile * miles * 100) / 100
  return {
    scope: 'lane',
    origin: `${origin.city}, ${origin.state}`,
    destination: `${destination.city}, ${destination.state}`,
    equipment: equipmentCode,
    basis: 'all_in',
    kind: 'buy',
    currency: answer.currency,
    low: perLoad(low),
    mid: perLoad(mid),
    high: perLoad(high),
    source: sourceOfAdapter.greenscreens,
    as_of: new Date(now).toISOString(),
  }
}
