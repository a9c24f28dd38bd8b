import { performance } from 'node:perf_hooks'
import { createVerifier } from 'fast-jwt'
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import pg from 'pg'
import { laneInsight } from '#contract/lane-insight.ts'
import { markup } from '#contract/markup.ts'
import { equipmentCode } from '#engine/equipment.ts'
import { readPlace } from '#engine/place.ts'
import { slidingWindow } from '#server/security/index.ts'
import { laneStatement, markupStatement } from './ordinary-statements.ts'

/**
 * The `ordinary` server: a typical first implementation. It uses Fastify with schema validation, verifies the token, applies the
 * tenant's rate limit, and runs one prepared statement per request, which looks the token up and computes the answer. Its role
 * bypasses row-level security: each statement has a tenant condition, and there is no transaction.
 */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 })
const verify = createVerifier({
  key: Buffer.from(process.env.BENCH_TOKEN_KEY ?? '', 'hex'),
  algorithms: ['HS256'],
  allowedIss: 'lanewise',
  allowedAud: 'lanewise:integrations',
  cache: 10_000,
})
const limit = slidingWindow(10, 1000)

interface Claims {
  readonly tenant_id: number
  readonly jti: string
  readonly scope: string
}

type LaneQuery = { origin: string; destination: string; equipment?: string }

/** The checks that both routes share. Returns null if a check has sent a response. */
async function admitted(request: FastifyRequest<{ Querystring: LaneQuery }>, reply: FastifyReply) {
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
  let claims: Claims
  try {
    claims = verify(token ?? '')
  } catch {
    await reply.code(401).send({ error: 'The token is not one of ours.' })
    return null
  }
  if (!limit.admit(claims.tenant_id, performance.now()).admitted) {
    await reply.code(429).send({ error: 'Ten requests a second.' })
    return null
  }
  const { query } = request
  const [origin, destination] = [readPlace(query.origin), readPlace(query.destination)]
  if (origin === null || destination === null) {
    await reply.code(422).send({ error: 'A place is a city and a state.' })
    return null
  }
  const equipment = query.equipment === undefined ? null : equipmentCode(query.equipment)
  return { lane: [claims.tenant_id, claims.jti, origin.key, destination.key, equipment] }
}

const place = { type: 'string', minLength: 1, maxLength: 100 }
const rate = { type: 'number', exclusiveMinimum: 0, maximum: 9_999_999.99 }
const lane = {
  type: 'object',
  required: ['origin', 'destination'],
  properties: {
    origin: place,
    destination: place,
    equipment: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,20}$' },
    proposed_rate: rate,
    market_rate: rate,
  },
}

const dollars = (cents: unknown) => (cents === null ? null : Math.round(Number(cents)) / 100)
const round = (value: number, digits: number) => Number(value.toFixed(digits))

const app = fastify({ logger: { level: process.env.LOG_LEVEL ?? 'warn' } })

app.get<{ Querystring: LaneQuery & { proposed_rate: number; market_rate?: number } }>(
  markup.path,
  { schema: { querystring: { ...lane, required: [...lane.required, 'proposed_rate'] } } },
  async (request, reply) => {
    const asked = await admitted(request, reply)
    if (asked === null) return reply
    const { query } = request
    const rateCents = Math.round(query.proposed_rate * 100)
    const { rows } = await pool.query({
      name: 'markup',
      text: markupStatement,
      values: [...asked.lane, rateCents],
    })
    const [row] = rows
    if (row === undefined || Number(row.live) === 0) return reply.code(401).send({ error: 'Revoked.' })
    const echo = {
      origin: query.origin,
      destination: query.destination,
      equipment: query.equipment ?? null,
      proposed_rate: query.proposed_rate,
      market_rate: query.market_rate ?? null,
    }
    const quotes = Number(row.quotes)
    if (quotes === 0) return { found: false, query: echo, confidence: 'none' }
    const [compared, won] = [Number(row.compared), Number(row.compared_won)]
    const share = compared === 0 ? null : round(won / compared, 2)
    const decided = Number(row.decided)
    const reference = query.market_rate === undefined ? Number(row.median) : query.market_rate * 100
    return {
      found: true,
      query: echo,
      win_probability: share,
      confidence: decided >= 20 ? 'high' : decided >= 8 ? 'medium' : 'low',
      markup_pct: round((rateCents / reference - 1) * 100, 1),
      suggested_rate: dollars(row.suggested),
      rate_band: { floor: dollars(row.floor), median: dollars(row.median), ceiling: dollars(row.ceiling) },
      verdict: `At $${query.proposed_rate.toLocaleString('en-US')} you won ${Math.round((share ?? 0) * 100)} % of the ${compared} decided quotes at this rate or lower.`,
    }
  },
)

app.get<{ Querystring: LaneQuery }>(
  laneInsight.path,
  { schema: { querystring: lane } },
  async (request, reply) => {
    const asked = await admitted(request, reply)
    if (asked === null) return reply
    const { query } = request
    const { rows } = await pool.query({ name: 'lane', text: laneStatement, values: asked.lane })
    const [row] = rows
    if (row === undefined || Number(row.live) === 0) return reply.code(401).send({ error: 'Revoked.' })
    const echo = {
      origin: query.origin,
      destination: query.destination,
      equipment: query.equipment ?? null,
    }
    const quotes = Number(row.quotes)
    if (quotes === 0) return { found: false, query: echo }
    const [wins, losses] = [Number(row.wins), Number(row.losses)]
    const winRate = wins + losses === 0 ? 0 : wins / (wins + losses)
    const spread = Number(row.spread ?? 0) / Number(row.average)
    const recent =
      Number(row.recent_decided) === 0 ? winRate : Number(row.recent_wins) / Number(row.recent_decided)
    return {
      found: true,
      query: echo,
      scope: 'equipment',
      history: {
        total_quotes: quotes,
        wins,
        losses,
        win_rate_pct: round(winRate * 100, 1),
        months_active: Number(row.months),
        avg_rate_usd: dollars(row.average),
      },
      scores: {
        harmonic: round(1 / (1 + spread), 2),
        integral: round(Math.log1p(quotes), 2),
        derivative: round(recent - winRate, 2),
        correlation: round(Number(row.price_and_outcome ?? 0), 2),
      },
      signals: {
        strength: winRate > 0.5 ? 'strong' : winRate > 0.3 ? 'moderate' : 'weak',
        trend: recent > winRate ? 'heating' : recent < winRate ? 'cooling' : 'steady',
        consistency: spread < 0.05 ? 'reliable' : spread < 0.12 ? 'mixed' : 'erratic',
        timing: 'neutral',
      },
      summary: `You have won ${wins} of ${wins + losses} decided quotes on this lane.`,
    }
  },
)

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
process.stdout.write('ready\n')
