import { fastify } from 'fastify'

/** The `framework` server: Fastify with one route that returns a constant JSON value. */
const answer: unknown = JSON.parse(process.env.BENCH_ANSWER ?? '{}')
const app = fastify({ logger: false })
app.get('/*', async () => answer)
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
process.stdout.write('ready\n')
