import { setTimeout as delay } from 'node:timers/promises'
import { type TenantId, type TenantVersions, tenantId } from '../database/session/index.ts'
import { type Log, late, orLate } from '../runtime/index.ts'
import { type TakePermit, tenantWindow } from './tenant-limit.ts'

/** What the instances share through Redis or Valkey: the window of the rate limit, and notices of changed tenants. */
export interface SharedRedis {
  /** Takes permits in Redis; in the database while Redis does not answer. */
  readonly takePermit: TakePermit
  /** Notifies the other instances that a tenant changed. An instance that misses the notice learns it from the database. */
  publish(tenant: TenantId, versions: TenantVersions | null): void
  close(): Promise<void>
}

/** Redis answers in less than a millisecond. After this time the database is asked instead. */
const answerTimeoutMs = 250
/** How long Redis is not asked again after a failure. */
const retryRedisAfterMs = 1_000

const channel = 'lanewise:moved'
const windowOf = (tenant: TenantId) => `lanewise:window:${tenant}`

/**
 * The same algorithm as `take_permit` in the schema, by the clock of Redis: a list of the times of the last admitted
 * requests in microseconds, oldest first. Redis runs scripts one at a time, so no permit is taken twice.
 */
const takePermitScript = `
local key, most, window, alreadyAdmitted = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1'
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]
local held = {}
for _, at in ipairs(redis.call('lrange', key, 0, -1)) do
  at = math.min(tonumber(at), now)
  if now - at < window then held[#held + 1] = at end
end
if #held >= most and not alreadyAdmitted then return {0, 0, window - (now - held[1])} end
held[#held + 1] = now
while #held > most do table.remove(held, 1) end
redis.call('del', key)
for _, at in ipairs(held) do redis.call('rpush', key, string.format('%.0f', at)) end
redis.call('pexpire', key, math.ceil(window / 1000) * 2)
return {1, most - #held, 0}
`

/** Connects to Redis. The service starts without Redis and uses it as soon as it is reachable. */
export async function sharedRedis(
  url: string,
  {
    fallback,
    onTenantChanged,
    monotonic,
    log,
  }: {
    /** Takes a permit in the database. */
    fallback: TakePermit
    /** Called for each tenant that another instance changed; null versions if their new values are unknown. */
    onTenantChanged: (tenant: TenantId, versions: TenantVersions | null) => void
    monotonic: () => number
    log: Log
  },
): Promise<SharedRedis> {
  // Load the client only if Redis is configured.
  const { createClient } = await import('@redis/client')
  const client = createClient({
    url,
    // Do not queue commands while Redis is unreachable: the database answers them instead.
    disableOfflineQueue: true,
    socket: { connectTimeout: 2_000, reconnectStrategy: (retries) => Math.min(100 * (retries + 1), 2_000) },
  })
  const listener = client.duplicate()
  let isDown = false
  const onFailure = (error: unknown) => {
    if (!isDown)
      log.warn({ err: error }, 'Redis does not answer: the database keeps the rate limit until it does')
    isDown = true
  }
  client.on('error', onFailure)
  listener.on('error', () => {})
  client.on('ready', () => {
    if (isDown) log.info({}, 'Redis answers again')
    isDown = false
  })
  let notBefore = Number.NEGATIVE_INFINITY

  async function take(tenant: TenantId, alreadyAdmitted: boolean) {
    const { max, windowMs } = tenantWindow
    const [taken, remaining, retryAfterMicros] = (await withTimeout(
      client.eval(takePermitScript, {
        keys: [windowOf(tenant)],
        arguments: [String(max), String(windowMs * 1000), alreadyAdmitted ? '1' : '0'],
      }),
    )) as [number, number, number]
    return { admitted: taken === 1, remaining, retryAfterMs: retryAfterMicros / 1000 }
  }

  // The service does not wait for a slow connection: Redis may still be unreachable for the first requests.
  const connecting = Promise.all([
    client.connect(),
    listener.connect().then(() =>
      listener.subscribe(channel, (message) => {
        const [tenant, facts, access] = message.split(' ').map(Number)
        if (tenant === undefined || !Number.isInteger(tenant)) return
        const known = facts !== undefined && access !== undefined
        onTenantChanged(tenantId(tenant), known ? { facts, access } : null)
      }),
    ),
  ]).catch(onFailure)
  await Promise.race([connecting, delay(answerTimeoutMs)])

  return {
    async takePermit(tenant, alreadyAdmitted) {
      if (!client.isReady || monotonic() < notBefore) return fallback(tenant, alreadyAdmitted)
      try {
        return await take(tenant, alreadyAdmitted)
      } catch (error) {
        onFailure(error)
        notBefore = monotonic() + retryRedisAfterMs
        return fallback(tenant, alreadyAdmitted)
      }
    },
    publish(tenant, versions) {
      if (!client.isReady) return
      const message = versions === null ? `${tenant}` : `${tenant} ${versions.facts} ${versions.access}`
      client.publish(channel, message).catch(() => {})
    },
    async close() {
      client.destroy()
      listener.destroy()
      await connecting
    },
  }
}

async function withTimeout<T>(answer: Promise<T>): Promise<T> {
  const found = await orLate(answer, answerTimeoutMs)
  if (found === late) throw new Error(`No answer within ${answerTimeoutMs} ms.`)
  return found
}
