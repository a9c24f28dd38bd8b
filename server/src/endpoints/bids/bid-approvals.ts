import type { Static } from 'typebox'
import type * as contract from '#contract/bids.ts'
import { type FieldError, type Problem, problem } from '#contract/errors.ts'
import { bidApprovalLanesMax } from '#contract/limits.ts'
import { outsideAt } from '#engine/bid/bid-lane.ts'
import { formatDollars } from '#engine/money.ts'
import { approvals, bids } from '../../database/queries/index.ts'
import type { ApprovalRow, BidLaneRow, BidRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { type AskedBid, approvalState, askedQuote } from '../../lanes/index.ts'
import { bidOf } from './find-bid.ts'

/** A lane whose rate is below a minimum that demands an approval, or that blocks. */
interface OutsideLane {
  readonly row: BidLaneRow
  readonly rateCents: number
  readonly minimumCents: number
  readonly outside: 'approval' | 'block'
}

/** The lanes that are listed in a request and in a refusal. */
const listedMax = 20

/** Outside lanes, those furthest below their minimum first. */
function outsideLanes(rows: readonly BidLaneRow[]): OutsideLane[] {
  return rows
    .flatMap((row): OutsideLane[] => {
      const outside = outsideAt(row.rate_cents, row.priced)
      const minimumCents = row.priced?.minimumCents ?? null
      return outside === null || row.rate_cents === null || minimumCents === null
        ? []
        : [{ row, outside, rateCents: row.rate_cents, minimumCents }]
    })
    .sort((one, other) => one.rateCents - one.minimumCents - (other.rateCents - other.minimumCents))
}

/** What the rules say about the rates of a bid, and which of them were approved. */
interface Standing {
  readonly needed: readonly OutsideLane[]
  readonly blocked: readonly OutsideLane[]
  readonly approved: number
  readonly latest: ApprovalRow | null
}

const nothing: Standing = { needed: [], blocked: [], approved: 0, latest: null }

async function standingOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  rows: readonly BidLaneRow[],
): Promise<Standing> {
  const outside = outsideLanes(rows)
  if (outside.length === 0) return nothing
  const asked = await approvals.approvalsOfBid(transaction, tenant, bidId)
  const allowed = approvedRates(asked)
  const isApproved = ({ row, rateCents, minimumCents }: OutsideLane) =>
    (allowed.get(row.lane_number) ?? []).some(
      ([, rate, minimum]) => rateCents >= rate && minimumCents <= minimum,
    )
  const approvable = outside.filter((lane) => lane.outside === 'approval')
  const needed = approvable.filter((lane) => !isApproved(lane))
  return {
    needed,
    blocked: outside.filter((lane) => lane.outside === 'block'),
    approved: approvable.length - needed.length,
    latest: asked[0] ?? null,
  }
}

/** The rates that were approved, by lane. */
function approvedRates(rows: readonly ApprovalRow[]): Map<number, AskedBid['lanes'][number][]> {
  const lanes = rows.flatMap((row) => {
    const request = askedQuote(row)
    return request.kind === 'bid' && row.state === 'approved' ? request.lanes : []
  })
  return Map.groupBy(lanes, ([lane]) => lane)
}

export async function bidApprovalAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
  { bid, lanes, now }: { readonly bid: BidRow; readonly lanes: readonly BidLaneRow[]; readonly now: number },
): Promise<Static<typeof contract.BidApproval>> {
  const { needed, blocked, approved, latest } = await standingOf(transaction, tenant, bid.bid_id, lanes)
  return {
    needed: needed.length,
    blocked: blocked.length,
    approved,
    latest:
      latest === null
        ? null
        : {
            approval_id: latest.approval_id,
            state: approvalState(latest, now),
            decision_note: latest.decision_note,
          },
  }
}

function detailOf({ row, rateCents, minimumCents }: OutsideLane): string {
  const name = row.lane_key === null ? '' : ` (${row.lane_key})`
  const cost = row.priced?.costCents ?? null
  return `Lane ${row.lane_number}${name}: ${formatDollars(rateCents)} is below the minimum of ${formatDollars(minimumCents)}${cost === null ? '' : `; the expected cost is ${formatDollars(cost)}`}.`
}

const counted = (count: number) => (count === 1 ? '1 rate' : `${count} rates`)

function outsideProblem(bid: BidRow, { needed, blocked }: Standing, where: Partial<FieldError>): Problem {
  const errorsOf = (lanes: readonly OutsideLane[], code: string) =>
    lanes.map((lane) => ({ ...where, code, detail: detailOf(lane) }))
  const errors = [...errorsOf(blocked, 'blocked'), ...errorsOf(needed, 'needs-approval')].slice(0, listedMax)
  const first = errors[0]?.detail ?? ''
  return problem(
    'outside-rules',
    blocked.length > 0
      ? `The pricing rules do not allow ${counted(blocked.length)} of the bid. Raise them. Nothing was changed. ${first}`
      : `The pricing rules demand an approval of ${counted(needed.length)} of the bid. Ask for it with POST /api/bids/${bid.bid_id}/approvals. Nothing was changed. ${first}`,
    { errors },
  )
}

/**
 * Lets no rate out that needs an approval and does not have it.
 *
 * @param where the field or parameter that the errors point to
 * @throws Problem outside-rules
 */
export async function refuseOutsideRates(
  transaction: TenantTransaction,
  tenant: TenantId,
  { bid, lanes }: { readonly bid: BidRow; readonly lanes: readonly BidLaneRow[] },
  where: Partial<FieldError>,
): Promise<void> {
  const standing = await standingOf(transaction, tenant, bid.bid_id, lanes)
  if (standing.needed.length + standing.blocked.length > 0) throw outsideProblem(bid, standing, where)
}

/** What a request for approval of a bid asks for, and why. @throws Problem if nothing needs approval, or a rule blocks a rate */
export async function askedOfBid(
  transaction: TenantTransaction,
  tenant: TenantId,
  bidId: number,
  now: number,
): Promise<{ readonly request: AskedBid; readonly reasons: readonly string[] }> {
  const bid = await bidOf(transaction, tenant, bidId, { lock: true })
  const standing = await standingOf(
    transaction,
    tenant,
    bidId,
    await bids.lanesOfBid(transaction, tenant, bidId),
  )
  const { needed, blocked, latest } = standing
  if (blocked.length > 0) throw outsideProblem(bid, standing, {})
  const refused = (why: string) => problem('state-conflict', `${why} Nothing was changed.`)
  if (needed.length === 0) throw refused('No rate of the bid needs an approval that it does not have.')
  if (latest !== null && approvalState(latest, now) === 'waiting')
    throw refused(`Request ${latest.approval_id} for this bid waits for a decision.`)
  if (needed.length > bidApprovalLanesMax) {
    throw refused(
      `${counted(needed.length)} of the bid need approval; a request has at most ${bidApprovalLanesMax}. Raise some with a strategy first.`,
    )
  }
  const first = needed.slice(0, listedMax)
  return {
    request: {
      kind: 'bid',
      bidId,
      name: bid.name,
      customerName: bid.customer_name,
      lanes: needed.map(({ row, rateCents, minimumCents }) => [row.lane_number, rateCents, minimumCents]),
      shown: first.map(({ row, rateCents }) => ({
        origin: row.origin ?? row.origin_sent,
        destination: row.destination ?? row.destination_sent,
        equipment: row.equipment_code ?? row.priced?.equipment ?? 'any',
        rateCents,
      })),
    },
    reasons: first.map(detailOf),
  }
}

/** @throws a 409 if the bid is gone, or a rate is lower by now than the one that approval was asked for */
export async function refuseChangedBid(
  transaction: TenantTransaction,
  tenant: TenantId,
  { bidId, lanes }: AskedBid,
): Promise<void> {
  const refused = (why: string) =>
    problem('state-conflict', `${why} Nothing was changed. Reject the request; the person can ask again.`)
  if ((await bids.findBid(transaction, tenant, bidId, { lock: true })) === null) {
    throw refused('The bid was removed after the request.')
  }
  const rows = await bids.lanesOfBid(transaction, tenant, bidId)
  const rateOf = new Map(rows.map((row) => [row.lane_number, row.rate_cents]))
  const lower = lanes.find(([lane, cents]) => (rateOf.get(lane) ?? Number.POSITIVE_INFINITY) < cents)
  if (lower === undefined) return
  const [lane, cents] = lower
  throw refused(
    `Lane ${lane} has ${formatDollars(rateOf.get(lane) ?? 0)} by now, below the ${formatDollars(cents)} of the request.`,
  )
}
