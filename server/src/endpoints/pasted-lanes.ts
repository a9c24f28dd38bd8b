import type { AnswerOf } from '#contract/endpoint.ts'
import { readPastedLanes } from '#contract/pasted-lanes.ts'
import { centsFromDollars } from '#engine/money.ts'
import { readPasted } from '../imports/index.ts'
import { readEquipment, readLanePlaces } from '../lanes/index.ts'
import { serve } from './endpoint-call.ts'
import { rateChecker } from './rate-check.ts'

export const pastedLanesEndpoint = serve(readPastedLanes, async ({ body, caller, now }, parts) => {
  const pasted = readPasted(body.text)
  const toCheck = pasted.rows.filter(({ rate, errors }) => rate !== null && errors.length === 0)
  const warningsOf = toCheck.length === 0 ? null : await rateChecker(parts, caller.tenant, now)
  const rows: AnswerOf<typeof readPastedLanes>['rows'] = []
  for (const row of pasted.rows) rows.push({ ...row, warnings: await warningsOfRow(row) })
  return { ...pasted, rows }

  async function warningsOfRow({ origin, destination, equipment, rate, cost, errors }: PastedRow) {
    if (warningsOf === null || rate === null || errors.length > 0) return []
    const places = readLanePlaces({ origin: origin ?? '', destination: destination ?? '' }, at, [], true)
    // Without an equipment, the desk quotes a van.
    const code = readEquipment(equipment ?? 'V', {}, [])
    if (places === null || code === null) return []
    return warningsOf('rate', {
      ...places,
      equipment_code: code,
      rateCents: centsFromDollars(rate) ?? 0,
      enteredCostCents: cost === null ? null : centsFromDollars(cost),
    })
  }
})

type PastedRow = ReturnType<typeof readPasted>['rows'][number]
const at = (field: string) => ({ pointer: `/${field}` })
