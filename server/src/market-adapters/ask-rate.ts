import { stateCountry } from '#engine/states.ts'
import {
  type AccessToken,
  type MarketAdapter,
  type Provided,
  type ProviderFailure,
  type Send,
  sourceOfAdapter,
  type WantedLane,
} from './market-adapter.ts'
import { failureOf, membersOf, notJson, unreadable } from './provider-answers.ts'

/** Whether a provider may know such lanes. */
export function coversLane(
  { equipments }: MarketAdapter,
  { origin, destination, equipmentCode }: WantedLane,
): boolean {
  return (
    Object.hasOwn(equipments, equipmentCode) &&
    [origin, destination].every(({ state }) => stateCountry(state) !== 'MX')
  )
}

/** Asks providers for rates. Access tokens stay in memory, one per provider and key. */
export function rateAsker() {
  const tokens = new Map<string, AccessToken>()

  async function tokenFor(
    adapter: MarketAdapter,
    key: string,
    at: { readonly send: Send; readonly now: number },
  ): Promise<{ readonly token: AccessToken; readonly isKept: boolean } | ProviderFailure> {
    const name = `${adapter.name} ${key}`
    const kept = tokens.get(name)
    if (kept !== undefined && kept.until > at.now) return { token: kept, isKept: true }
    for (const [ofKey, { until }] of tokens) if (until <= at.now) tokens.delete(ofKey)
    const token = await adapter.token(JSON.parse(key) as Record<string, string>, at)
    if ('failure' in token) return token
    tokens.set(name, token)
    return { token, isKept: false }
  }

  /** Asks for the rate of a lane. `key` is the stored key as JSON. Never throws for anything that the provider answers. */
  return async function askRate(
    adapter: MarketAdapter,
    key: string,
    lane: WantedLane,
    at: { readonly send: Send; readonly now: number },
  ): Promise<Provided> {
    const got = await tokenFor(adapter, key, at)
    if ('failure' in got) return got
    const request = adapter.rateRequest(lane, adapter.equipments[lane.equipmentCode] ?? '', at.now)
    const posted = await at.send(adapter.rateUrl, {
      headers: jsonHeaders(got.token.text),
      body: JSON.stringify(request),
    })
    if (posted.status === 401) {
      tokens.delete(`${adapter.name} ${key}`)
      // The provider may end a token early. The key is refused only if a new token is, too.
      if (got.isKept) return askRate(adapter, key, lane, at)
    }
    if (adapter.noRateStatuses.includes(posted.status ?? 0)) return { rate: null }
    if (posted.status !== 200) return failureOf(posted)
    const answer = membersOf(posted.text)
    if (answer === null) return notJson
    const amounts = adapter.amountsOf(answer)
    if (amounts === null) return { rate: null }
    if (typeof amounts === 'string') return unreadable(amounts)
    const { origin, destination, equipmentCode } = lane
    return {
      rate: {
        ...amounts,
        scope: 'lane',
        origin: `${origin.city}, ${origin.state}`,
        destination: `${destination.city}, ${destination.state}`,
        equipment: equipmentCode,
        kind: 'buy',
        source: sourceOfAdapter[adapter.name],
        as_of: new Date(at.now).toISOString(),
      },
    }
  }
}

/** The headers of a request in JSON, with an access token if there is one. */
export function jsonHeaders(token: string | null): Readonly<Record<string, string>> {
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json',
    ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
  }
}
