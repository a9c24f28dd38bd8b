import type { AnswerOf, BodyOf } from '#contract/endpoint.ts'
import { type FieldError, Problem } from '#contract/errors.ts'
import { batchAnswers, batchLane, insightBatch } from '#contract/insight-batch.ts'
import { batchSecondsMax, unknownPlacesLookedUpMax } from '#contract/limits.ts'
import { shape } from '#contract/shape.ts'
import { RequestDeadline, withDeadline } from '../../database/session/index.ts'
import { inBatches } from '../../limits/index.ts'
import { closestFinder, placesMeantMax, readAskedLane } from '../../quotes/index.ts'
import { type AskedBy, serve } from '../endpoint-call.ts'
import { itemErrors } from '../integration/item-errors.ts'
import type { Parts } from '../parts.ts'
import { insightOfLane } from './lane-insight.ts'
import { markupOfLane } from './markup.ts'

type Lane = BodyOf<typeof insightBatch>['lanes'][number]
type Result = AnswerOf<typeof insightBatch>['results'][number]

const laneShape = shape(batchLane, 'body')
const inLane = (name: string) => ({ pointer: `/${name}` })

function errorsOf(lane: unknown): readonly FieldError[] {
  if (typeof lane !== 'object' || lane === null || Array.isArray(lane)) {
    const detail = 'A lane must be a JSON object with origin and destination.'
    return [{ pointer: '', code: 'invalid', detail }]
  }
  return laneShape.errors(lane)
}

/** The caller's id of a lane, also when another field of the lane is invalid. */
function idOf(lane: unknown, errors: readonly FieldError[] = []): { id?: string } {
  const id = (lane as { id?: unknown } | null)?.id
  return typeof id === 'string' && !errors.some(({ pointer }) => pointer === '/id') ? { id } : {}
}

function wrong(index: number, lane: unknown, errors: readonly FieldError[]): Result {
  return { index, ...idOf(lane, errors), ...itemErrors(errors) }
}

const notReached = (lane: unknown, index: number): Result => ({
  index,
  ...idOf(lane, errorsOf(lane)),
  status: 503,
  detail: `This lane was not reached within ${batchSecondsMax} seconds. Send it again.`,
})

async function answersFor(
  { lanes, answers = [batchAnswers[0]], include = [] }: BodyOf<typeof insightBatch>,
  by: AskedBy,
  parts: Pick<Parts, 'books' | 'database' | 'tenantLimit' | 'monotonic'>,
): Promise<AnswerOf<typeof insightBatch>> {
  const wanted = new Set(answers)
  let guesses = placesMeantMax
  const additions = { include: new Set(include), closest: closestFinder(unknownPlacesLookedUpMax) }

  async function answerTo(lane: Lane, index: number): Promise<Result> {
    const errors = errorsOf(lane)
    if (errors.length > 0) return wrong(index, lane, errors)
    try {
      const asked = readAskedLane(lane, inLane, guesses > 0)
      // Each lane has the deadline of a single read.
      return await withDeadline(new RequestDeadline(parts.database.deadlines.requestMs), async () => ({
        index,
        ...idOf(lane),
        status: 200,
        ...(wanted.has('markup') ? { markup: await markupOfLane(lane, asked, by, parts, additions) } : {}),
        ...(wanted.has('lane') ? { lane: await insightOfLane(lane, asked, by, parts, additions) } : {}),
      }))
    } catch (error) {
      if (!(error instanceof Problem) || error.errors === undefined) throw error
      guesses -= error.errors.length
      return wrong(index, lane, error.errors)
    }
  }

  const results = await inBatches(lanes, { answer: answerTo, notReached }, by.caller.tenant, parts)
  return { count: results.filter(({ status }) => status === 200).length, results }
}

export const insightBatchEndpoint = serve(insightBatch, ({ body, caller, now }, parts) =>
  answersFor(body, { caller, now }, parts),
)
