import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import type { Endpoint } from '#contract/endpoint.ts'
import type { ProblemBody } from '#contract/errors.ts'
import { commonExtras } from '#contract/insight-extras.ts'
import { laneInsight } from '#contract/lane-insight.ts'
import { changesPageDefault, changesPageMax, pageSizeDefault, pageSizeMax } from '#contract/limits.ts'
import { markup } from '#contract/markup.ts'
import { searchShipments } from '#contract/quote-requests.ts'
import { readQuotes } from '#contract/read-back.ts'
import { version } from '../runtime/index.ts'

/** Calls an operation of the service with the service token of the agent. */
export type AskService = (
  operation: Endpoint,
  query: URLSearchParams,
) => Promise<{ readonly status: number; readonly body: unknown }>

const places =
  'Places are "City, ST", such as "Dallas, TX". The direction matters: Dallas to Atlanta is a different lane from Atlanta to Dallas.'

interface Tool {
  readonly endpoint: Endpoint
  readonly description: string
  /** Values that the tool adds to `include`, so that an agent always knows what amounts include and which places are unknown. */
  readonly extras?: readonly string[]
}

/** The tools of agents, by name. All of them read; none can write. */
const tools: Readonly<Record<string, Tool>> = {
  markup: {
    endpoint: markup,
    extras: commonExtras,
    description: `Compares a proposed customer rate with what this brokerage quoted, won and lost on one lane (the exact city pair, and the equipment if given). Use it when asked whether a rate will win, or what to quote. ${places} The answer has win_probability (the share of the decided quotes at this rate or lower that were won: it describes the past and is not a forecast; say so when you repeat it), suggested_rate, rate_band (the lowest, median and highest rate quoted) and verdict, one sentence to show unchanged. confidence says how many decided quotes are behind it: high 15 or more, medium 5 to 14, low 1 to 4, none 0. found is false when the brokerage has no quote on the lane: then say that there is no data, and do not guess a rate. With include=evidence the quotes behind the answer come in pages: evidence_page and evidence_limit go in, evidence.quotes_pages comes out.`,
  },
  lane_insight: {
    endpoint: laneInsight,
    extras: commonExtras,
    description: `Summarizes this brokerage's own quotes on a lane: how many were won and lost, the average rate, four scores, four signals (strength, trend, consistency, timing) and summary, one sentence to show unchanged. Use it when asked about a lane without a rate; with a rate, use markup. ${places} When the lane itself has too few quotes, the answer comes from a wider area: scope says which (equipment is the lane itself, then corridor, market, state_pair, region, tenant), and a wider area says less about this lane. found is false when there are no quotes at all.`,
  },
  shipments: {
    endpoint: searchShipments,
    description: `Lists bookings with customer rate (AR), truck cost (AP), margin, customer and carrier. Use it when asked what was booked, for whom, with which carrier or at what margin. totals covers the whole selection, not the page: for a sum or a count, use limit=1 and read totals. Bookings come in pages of ${pageSizeDefault}, or of limit (1 to ${pageSizeMax}). next_cursor is null on the last page; for the next page, send it as cursor with the same sort and filters. total, the number of bookings of the selection, is on the first page only. Narrow the selection with filters before reading many pages.`,
  },
  quotes: {
    endpoint: readQuotes,
    description: `Finds quotes, with rate, customer, outcome and booking. Use it when asked about one quote (external_id is the brokerage's own id of it, such as a load number of its TMS; lane_ref is the id in Lanewise), or about what changed (updated_since). Each quote comes with its newest state, in the order in which the quotes changed last: limit=1 does not return the newest. An empty list with more false means that there is no such quote. Quotes come in pages of ${changesPageDefault}, or of limit (1 to ${changesPageMax}). While more is true, send next_cursor as cursor for the next page. Without external_id or lane_ref, set updated_since, or every quote of the brokerage is read from the first. removed is true for a quote that was deleted. To ask what a rate would win, use markup.`,
  },
}

/** The endpoints behind the tools. */
export const agentReads: readonly Endpoint[] = Object.values(tools).map(({ endpoint }) => endpoint)

/** A schema without the members that only this project uses. */
function plain(schema: unknown): object {
  return JSON.parse(
    JSON.stringify(schema, (name, value: unknown) => (name.startsWith('x-') ? undefined : value)),
  )
}

/** A validator that accepts everything, because the service validates requests and answers itself. */
const leftToService = {
  getValidator: () => (data: unknown) => ({
    valid: true as const,
    data: data as never,
    errorMessage: undefined,
  }),
}

/** An argument as a query parameter. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/**
 * The server side of the Model Context Protocol: read-only tools, each an endpoint of the API with its own
 * contract. `ask` carries the service token, so an agent sees one brokerage and shares its limit.
 */
export function agentServer(ask: AskService): McpServer {
  const server = new McpServer(
    { name: 'lanewise', title: 'Lanewise', version },
    {
      instructions:
        'Freight pricing of one brokerage. Places are "City, ST"; amounts are for the whole load. Statistics are in US dollars on the basis that basis.amounts names (all_in with fuel, or linehaul without), and basis.kept_apart counts quotes that are left out. The amounts of shipments and quotes are as they were sent: read the _basis and _currency members before comparing or adding them. These tools are read-only: they cannot book or change anything. Ten calls a second for the whole brokerage.',
    },
  )
  for (const [name, { endpoint, description, extras = [] }] of Object.entries(tools)) {
    server.registerTool(
      name,
      {
        title: endpoint.summary,
        description,
        inputSchema: fromJsonSchema<Record<string, unknown>>(
          { ...plain(endpoint.query), additionalProperties: false },
          leftToService,
        ),
        outputSchema: fromJsonSchema(
          // The protocol requires an object at the root; the contract has a union of two objects.
          { type: 'object', ...plain(endpoint.answer) },
          leftToService,
        ),
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
        if (extras.length > 0) text.set('include', [...extras, ...text.getAll('include')].join())
        const { status, body } = await ask(endpoint, text)
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

/** The reason of a refusal, for the agent to correct the call or to report. */
function refusal(status: number, body: unknown): string {
  const {
    title,
    detail,
    errors = [],
  } = (typeof body === 'object' && body !== null ? body : {}) as Partial<ProblemBody>
  // The detail is the text of the first error.
  const each = errors.length > 1 ? errors.map((error) => `- ${error.detail}`) : []
  return [`${status} ${title ?? 'The service did not answer as expected'}: ${detail ?? ''}`, ...each]
    .join('\n')
    .trim()
}
