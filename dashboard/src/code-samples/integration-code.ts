import { type CodeLanguage, codeOf, shellText } from '#contract/code-samples.ts'

/** Example programs that call the integration API, with the service's address, and a quote and a lane of the brokerage. */

/** The operations with example programs. The first one is shown first: it reads, and changes nothing. */
export const codeCalls = ['markup', 'lane-insight', 'shipment-update'] as const
export type CodeCall = (typeof codeCalls)[number]

/** A pending quote, and the rate and the cost of its booking, in dollars. */
export interface CodeBooking {
  readonly laneRef: string
  readonly customerRate: number
  readonly truckCost: number
}

/** A lane, and a rate to compare with its history, in dollars. */
export interface CodeLane {
  readonly origin: string
  readonly destination: string
  readonly equipment: string
  readonly rate: number
}

/**
 * The shell lines that set the programs' credentials in the environment.
 *
 * @param known the plaintexts; null for a placeholder text
 * @example exportLines({ token: null, secret: null }).split('\n').length // 2
 */
export function exportLines(known: {
  readonly token: string | null
  readonly secret: string | null
}): string {
  return [
    `export LANEWISE_TOKEN=${shellText(known.token ?? 'put the service token here')}`,
    `export LANEWISE_SECRET=${shellText(known.secret ?? 'put the signing secret here')}`,
  ].join('\n')
}

/**
 * A program that signs and sends a booking. `base` is the service's URL without a trailing slash. The booking is real and
 * changes the quote.
 *
 * @example shipmentUpdateCode('curl', 'https://tms.example', { laneRef: '48211093754-1-1', customerRate: 2150, truckCost: 1820.5 })
 */
export function shipmentUpdateCode(language: CodeLanguage, base: string, booking: CodeBooking): string {
  const { laneRef, customerRate, truckCost } = booking
  return codeOf(language, {
    base,
    method: 'POST',
    path: '/api/integrations/tms/shipment-update',
    token: 'LANEWISE_TOKEN',
    signs: 'body',
    body: { lane_ref: laneRef, customer_rate: customerRate, truck_cost: truckCost },
  })
}

/** A program that requests the advice on a rate. Reads need only the token, no signature. */
export function markupCode(language: CodeLanguage, base: string, lane: CodeLane): string {
  const { origin, destination, equipment, rate } = lane
  return readCode(language, base, '/api/integrations/insights/markup', [
    ['origin', origin],
    ['destination', destination],
    ['equipment', equipment],
    ['proposed_rate', String(rate)],
  ])
}

/** A program that requests the insight into a lane. */
export function laneInsightCode(language: CodeLanguage, base: string, lane: CodeLane): string {
  const { origin, destination, equipment } = lane
  return readCode(language, base, '/api/integrations/insights/lane', [
    ['origin', origin],
    ['destination', destination],
    ['equipment', equipment],
  ])
}

function readCode(
  language: CodeLanguage,
  base: string,
  path: string,
  asked: readonly (readonly [name: string, value: string])[],
): string {
  return codeOf(language, { base, method: 'GET', path, asked, token: 'LANEWISE_TOKEN', signs: null })
}
