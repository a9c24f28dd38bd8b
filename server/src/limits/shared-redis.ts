import { type TenantId, type TenantVersions, tenantId } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { type TakePermit, tenantWindow } from './tenant-limit.ts'

/** What the instances share in Redis or Valkey: the limit's window, and word of what has changed. */
export interface SharedRedis {
  /** Takes places there; in the database while it does not answer. */
  readonly takePermit: TakePermit
  /** Tells the other instances that a tenant has moved on. Who does not hear of it learns it from the database. */
  tell(tenant: TenantId, versions: TenantVersions | null): void
  close(): Promise<void>
}

/** Redis answers in less than a millisecond. Who waits longer asks the database instead. */
const answerMs = 250
/** Then it is left alone for a while. */
const tryAgainMs = 1_000

const channel = 'lanewise:moved'
const windowOf = (tenant: TenantId) => `lanewise:window:${tenant}`

/**
 * `take_place` of the schema once more, by the clock of Redis: the times of the last admitted requests in microseconds,
 * oldest first. A script runs alone, so two never take the same place.
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

/** Connects. Where Redis is away now it is used when it comes: a service starts without it. */
export async function sharedRedis(
  url: string,
  {
    otherwise,
    onTenantChanged,
    monotonic,
    log,
  }: {
    /** Takes a place in the database. */
    otherwise: TakePermit
    /** Told of tenants that other instances have moved on; null when nobody knows how far. */
    onTenantChanged: (tenant: TenantId, versions: TenantVersions | null) => void
    monotonic: () => number
    log: Log
  },
): Promise<SharedRedis> {
  // Loaded only where Redis is configured.
  const { createClient } = await import('@redis/client')
  const client = createClient({
    url,
    // What cannot be sent at once is not sent later: the database has been asked meanwhile.
    disableOfflineQueue: true,
    socket: { connectTimeout: 2_000, reconnectStrategy: (retries) => Math.min(100 * (retries + 1), 2_000) },
  })
  const listener = client.duplicate()
  let away = false
  const isAway = (error: unknown) => {
    if (!away) log.warn({ err: error }, 'Redis does not answer: the limit is held in the database meanwhile')
    away = true
  }
  client.on('error', isAway)
  listener.on('error', () => {})
  client.on('ready', () => {
    if (away) log.info({}, 'Redis answers again')
    away = false
  })
  let notBefore = Number.NEGATIVE_INFINITY

  async function take(tenant: TenantId, alreadyAdmitted: boolean) {
    const { max, windowMs } = tenantWindow
    const [taken, remaining, retryAfterMicros] = (await withinMs(
      client.eval(takePermitScript, {
        keys: [windowOf(tenant)],
        arguments: [String(max), String(windowMs * 1000), alreadyAdmitted ? '1' : '0'],
      }),
    )) as [number, number, number]
    return { admitted: taken === 1, remaining, retryAfterMs: retryAfterMicros / 1000 }
  }

  // Connecting goes on behind the start: the first requests may find it away.
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
  ]).catch(isAway)
  await Promise.race([connecting, soon(answerMs)])

  return {
    async takePermit(tenant, alreadyAdmitted) {
      if (!client.isReady || monotonic() < notBefore) return otherwise(tenant, alreadyAdmitted)
      try {
        return await take(tenant, alreadyAdmitted)
      } catch (error) {
        isAway(error)
        notBefore = monotonic() + tryAgainMs
        return otherwise(tenant, alreadyAdmitted)
      }
    },
    tell(tenant, versions) {
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

const soon = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

async function withinMs<T>(asked: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`No answer within ${answerMs} ms.`)), answerMs)
  try {
    return await Promise.race([asked, late])
  } finally {
    clearTimeout(timer)
    asked.catch(() => {})
  }
}
