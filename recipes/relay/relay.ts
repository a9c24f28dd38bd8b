/**
 * Relays quotes and bookings from McLeod, Turvo or Tai to Lanewise. See docs/tms-mapping.md.
 *
 *   node relay.ts serve              receives webhooks: POST /mcleod, /turvo, /tai; GET /status
 *   node relay.ts read tai FILE      pushes an export, and ends
 *   node relay.ts refused            prints the records that were refused, with the fields
 *   node relay.ts retry              maps and pushes the refused records again, for example with other statuses
 *
 * LANEWISE_URL, LANEWISE_TOKEN, LANEWISE_SECRET: the service, a token (scopes quotes:write integrations:write), the secret
 * RELAY_AUTHORIZATION: the header Authorization that the TMS must send. PORT, HOST: where to listen
 * RELAY_OUTBOX: the file of the outbox, default relay-outbox.sqlite
 * RELAY_STATUSES: a JSON file with more statuses, such as {"turvo": {"quote sent": "quoted"}}
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { type Answer, isLanewiseFailure, Lanewise } from 'lanewise-client'
import { type Mapped, type MoreStages, mapRecord, NotMapped, recordsOf, type Tms } from './mappings.ts'
import { Outbox, type Refusal, type Waiting } from './outbox.ts'

const itemsPerPush = 500
const bodyBytesMax = 20_000_000
const longestWaitMs = 60_000

const { env } = process
const [command = '', ...args] = process.argv.slice(2)
const outbox = new Outbox(env.RELAY_OUTBOX ?? 'relay-outbox.sqlite')
const moreStages: MoreStages =
  env.RELAY_STATUSES === undefined ? {} : JSON.parse(readFileSync(env.RELAY_STATUSES, 'utf8'))
const stopping = new AbortController()
/** Resolves when something new is in the outbox. */
let news = Promise.withResolvers<void>()

const log = (line: object) => console.log(JSON.stringify({ at: new Date().toISOString(), ...line }))

/** Refusals of earlier runs stay in the outbox. They do not fail a file whose own records are all accepted. */
let refusedInThisRun = 0

/** Maps the records of a body, and stores them. What cannot be mapped is stored as refused. */
function accept(tms: Tms, body: unknown): { accepted: number; refused: Refusal[] } {
  const mapped: Mapped[] = []
  const refusals: { refusal: Refusal; record: unknown }[] = []
  for (const record of recordsOf(tms, body)) {
    try {
      mapped.push(mapRecord(tms, record, moreStages))
    } catch (error) {
      if (!(error instanceof NotMapped)) throw error
      const digest = createHash('sha256')
        .update(JSON.stringify(record) ?? '')
        .digest('hex')
        .slice(0, 12)
      refusals.push({
        record: { tms, record },
        refusal: {
          external_id: error.id ?? `${tms} record ${digest}`,
          kind: 'record',
          errors: [{ field: error.field, detail: error.message }],
        },
      })
    }
  }
  outbox.accept(mapped, refusals)
  refusedInThisRun += refusals.length
  for (const { refusal } of refusals) log({ refused: refusal })
  news.resolve()
  return { accepted: mapped.length, refused: refusals.map(({ refusal }) => refusal) }
}

type Result = Answer<'push-quotes' | 'push-shipment-updates'>['results'][number]

/** Removes the items that Lanewise applied or refused. The others (status 503) stay. */
function settle(
  kind: 'quote' | 'booking',
  sent: readonly Waiting<{ external_id?: string | null | undefined }>[],
  results: readonly Result[],
) {
  const pushed: Waiting<unknown>[] = []
  const refused: { refusal: Refusal; item: Waiting<unknown> }[] = []
  for (const result of results) {
    const item = sent[result.index]
    if (item === undefined || result.status === 503) continue
    if (result.status === 200) pushed.push(item)
    else {
      const { errors = [], detail } = result
      const fields = errors.map((error) => ({ field: error.pointer.slice(1), detail: error.detail }))
      refused.push({
        item,
        refusal: {
          external_id: item.item.external_id ?? '',
          kind,
          errors: fields.length > 0 ? fields : [{ field: 'external_id', detail }],
        },
      })
    }
  }
  outbox.settle(pushed, refused)
  refusedInThisRun += refused.length
  for (const { refusal } of refused) log({ refused: refusal })
  log({ pushed: pushed.length, kind, refused_now: refused.length, ...outbox.counts() })
}

/** Pushes one batch. False if nothing waits. Quotes go first: a booking needs its quote. */
async function pushBatch(lanewise: Lanewise): Promise<boolean> {
  const options = { signal: stopping.signal }
  const quotes = outbox.quotes(itemsPerPush)
  if (quotes.length > 0) {
    const { results } = await lanewise.pushQuotes({ quotes: quotes.map(({ item }) => item) }, options)
    settle('quote', quotes, results)
    return true
  }
  const bookings = outbox.bookings(itemsPerPush)
  if (bookings.length === 0) return false
  const { results } = await lanewise.pushShipmentUpdates(
    { updates: bookings.map(({ item }) => item) },
    options,
  )
  settle('booking', bookings, results)
  return true
}

/**
 * Pushes what waits. The client signs, keeps to the rate limit, honors Retry-After and repeats a call a few times. After
 * that, this loop waits longer and longer and tries again, because the outbox must not lose anything.
 */
async function pushWaiting(lanewise: Lanewise): Promise<void> {
  for (let failures = 0; !stopping.signal.aborted; ) {
    try {
      if (!(await pushBatch(lanewise))) return
      failures = 0
    } catch (error) {
      if (stopping.signal.aborted) return
      if (!isLanewiseFailure(error)) throw error
      const backOffMs = Math.min(longestWaitMs, 1_000 * 2 ** failures++)
      // A call that cannot succeed, for example because the token expired, waits for somebody to correct it.
      const waitMs = error.retryable
        ? Math.max(backOffMs, (error.retryAfterSeconds ?? 0) * 1000)
        : longestWaitMs
      log({ failed: error.code, detail: error.message, wait_ms: waitMs, ...outbox.counts() })
      await pause(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
}

function client(): Lanewise {
  const need = (name: string) => {
    const value = env[name]
    if (value === undefined || value === '') throw new Error(`${name} is missing.`)
    return value
  }
  return new Lanewise({
    baseUrl: need('LANEWISE_URL'),
    token: need('LANEWISE_TOKEN'),
    secret: need('LANEWISE_SECRET'),
    // A push of 500 items can take some seconds, because it waits for the rate limit.
    patience: { attemptTimeoutMs: 45_000, timeoutMs: 120_000 },
  })
}

/** Whether the TMS sent the agreed header. Digests have equal lengths, which the comparison in constant time needs. */
function isAuthorized({ headers }: IncomingMessage, expected: string): boolean {
  const digest = (value: string) => createHash('sha256').update(value).digest()
  return timingSafeEqual(digest(headers.authorization ?? ''), digest(expected))
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // The rest is read and dropped, so that the sender receives the answer.
    if (bytes <= bodyBytesMax) chunks.push(chunk)
  }
  return bytes <= bodyBytesMax ? Buffer.concat(chunks) : null
}

async function answerTo(request: IncomingMessage, authorization: string): Promise<[number, object]> {
  const { pathname } = new URL(request.url ?? '/', 'http://relay')
  if (pathname === '/status' && request.method === 'GET') return [200, outbox.counts()]
  const tms = (['mcleod', 'turvo', 'tai'] as const).find((one) => pathname === `/${one}`)
  if (tms === undefined) return [404, { detail: 'Send webhooks to /mcleod, /turvo or /tai.' }]
  if (request.method !== 'POST') return [405, { detail: 'Send a POST.' }]
  if (!isAuthorized(request, authorization))
    return [401, { detail: 'The header Authorization is not correct.' }]
  const bytes = await bodyOf(request)
  if (bytes === null) return [413, { detail: `The body has more than ${bodyBytesMax} bytes.` }]
  let body: unknown
  try {
    body = JSON.parse(bytes.toString('utf8'))
  } catch {
    return [400, { detail: 'The body is not JSON.' }]
  }
  return [202, accept(tms, body)]
}

async function serve(): Promise<void> {
  const lanewise = client()
  const authorization = env.RELAY_AUTHORIZATION ?? ''
  if (authorization === '') throw new Error('RELAY_AUTHORIZATION is missing.')
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const [status, body] = await answerTo(request, authorization).catch((error: unknown) => {
      log({ error: String(error) })
      return [500, { detail: 'The relay could not store the body.' }] as const
    })
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  }
  const server = createServer((request, response) => void respond(request, response))
  server.listen(Number(env.PORT ?? 9_100), env.HOST ?? '127.0.0.1', () =>
    log({ listening: server.address() }),
  )
  const stopped = new Promise((resolve) => stopping.signal.addEventListener('abort', resolve))
  while (!stopping.signal.aborted) {
    news = Promise.withResolvers()
    await pushWaiting(lanewise)
    await Promise.race([news.promise, stopped])
  }
  server.close()
  server.closeAllConnections()
}

async function read(): Promise<void> {
  const [tms = '', file = ''] = args
  if (tms !== 'mcleod' && tms !== 'turvo' && tms !== 'tai') throw new Error('Use: read mcleod|turvo|tai FILE')
  const lanewise = client()
  const { accepted } = accept(tms, JSON.parse(readFileSync(file, 'utf8')))
  log({ read: file, records: accepted })
  await pushWaiting(lanewise)
  if (refusedInThisRun > 0) process.exitCode = 1
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
try {
  if (command === 'serve') await serve()
  else if (command === 'read') await read()
  else if (command === 'refused')
    for (const refusal of outbox.refusals()) console.log(JSON.stringify(refusal))
  else if (command === 'retry') {
    const lanewise = client()
    outbox.retry()
    for (const refused of outbox.refusedRecords()) {
      const { tms, record } = refused as { tms: Tms; record: unknown }
      accept(tms, [record])
    }
    await pushWaiting(lanewise)
  } else throw new Error('Use: serve, read TMS FILE, refused, or retry')
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
} finally {
  outbox.close()
}
