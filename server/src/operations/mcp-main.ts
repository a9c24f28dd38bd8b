import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { agentServer } from '../agents/index.ts'

/**
 * The Model Context Protocol over standard input and output, for an agent that starts its tools as programs:
 * `LANEWISE_URL=https://… LANEWISE_TOKEN=… node server/src/operations/mcp-main.ts`. It reads from a running service with its token.
 */
const { LANEWISE_URL: url = 'http://localhost:8080', LANEWISE_TOKEN: token = '' } = process.env
if (URL.parse(url) === null || token === '') {
  process.stderr.write(
    'LANEWISE_URL must be the address of the service and LANEWISE_TOKEN a service token.\n',
  )
  process.exit(2)
}
const timeoutMs = 10_000

const running = serveStdio(() =>
  agentServer(async ({ path }, query) => {
    const answer = await fetch(new URL(`${path}?${query}`, url), {
      // Ignoring a misspelled argument would answer a different question.
      headers: { Authorization: `Bearer ${token}`, Prefer: 'handling=strict' },
      signal: AbortSignal.timeout(timeoutMs),
    })
    return { status: answer.status, body: await answer.json() }
  }),
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void running.close())
