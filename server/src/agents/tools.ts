import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import type { Endpoint } from '#contract/endpoint.ts'
import type { ProblemBody } from '#contract/errors.ts'
import { laneInsight } from '#contract/lane-insight.ts'
import { markup } from '#contract/markup.ts'
import { integrationShipments } from '#contract/quote-requests.ts'
import { version } from '../endpoints/operations.ts'

/** Asks the service for a path with its query, with the token of whoever the agent works for. */
export type AskService = (path: string) => Promise<{ readonly status: number; readonly body: unknown }>

/** What an agent may use, by the names it knows them by. All of them read; none of them can write. */
const tools: Readonly<Record<string, { readonly endpoint: Endpoint; readonly hint: string }>> = {
  markup: {
    endpoint: markup,
    hint: 'Use it when somebody asks whether a rate will win, or what to quote.',
  },
  lane_insight: {
    endpoint: laneInsight,
    hint: 'Use it when somebody asks what is known about a lane.',
  },
  shipments: {
    endpoint: integrationShipments,
    hint: 'Use it for what was booked: customer rate (AR), truck cost (AP) and margin. Ask for few at a time with limit.',
  },
}

/** A schema without what only this project reads. */
function plain(schema: unknown): object {
  return JSON.parse(
    JSON.stringify(schema, (name, value: unknown) => (name.startsWith('x-') ? undefined : value)),
  )
}

/** What is sent is checked by the service, in its own words: a second checker would say it otherwise. */
const leftToService = {
  getValidator: () => (data: unknown) => ({
    valid: true as const,
    data: data as never,
    errorMessage: undefined,
  }),
}

/** An argument as an address holds it. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/**
 * The Model Context Protocol's view of the service: three tools that read, each an operation of the API under its own
 * contract. `ask` carries the service token, so an agent sees one brokerage and shares its limit.
 */
export function agentServer(ask: AskService): McpServer {
  const server = new McpServer(
    { name: 'lanewise', title: 'Lanewise', version },
    {
      instructions:
        'Freight pricing of one brokerage. Places are "City, ST"; amounts are US dollars for the whole load. These tools read only: nothing can be booked or changed with them. Ten calls a second for the whole brokerage.',
    },
  )
  for (const [name, { endpoint, hint }] of Object.entries(tools)) {
    server.registerTool(
      name,
      {
        title: endpoint.summary,
        description: `${endpoint.description} ${hint}`,
        inputSchema: fromJsonSchema<Record<string, unknown>>(plain(endpoint.query), leftToService),
        annotations: {
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      },
      async (sent) => {
        const query = Object.entries(sent).filter(([, value]) => value !== undefined && value !== null)
        const text = new URLSearchParams(
          Object.fromEntries(query.map(([key, value]) => [key, textOf(value)])),
        )
        const { status, body } = await ask(`${endpoint.path}?${text}`)
        if (status === 200) {
          return {
            content: [{ type: 'text', text: JSON.stringify(body) }],
            structuredContent: body as Record<string, unknown>,
          }
        }
        return { content: [{ type: 'text', text: refusal(status, body) }], isError: true }
      },
    )
  }
  return server
}

/** Why it was refused, for an agent to mend it or to tell. */
function refusal(status: number, body: unknown): string {
  const {
    title,
    detail,
    errors = [],
  } = (typeof body === 'object' && body !== null ? body : {}) as Partial<ProblemBody>
  const each = errors.map((error) => `- ${error.detail}`)
  return [`${status} ${title ?? 'The service did not answer as expected'}: ${detail ?? ''}`, ...each]
    .join('\n')
    .trim()
}
