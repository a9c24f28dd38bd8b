import type { AnswerOf } from '#contract/endpoint.ts'
import { readPastedLanes } from '#contract/pasted-lanes.ts'
import { centsFromDollars, dollarsIfKnown } from '#engine/money.ts'
import { centsOnBasis, type RateBasis } from '#engine/rate-basis.ts'
import { people } from '../database/queries/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { readPasted } from '../imports/index.ts'
import { readEquipment, readLanePlaces } from '../lanes/index.ts'
import { serve } from './endpoint-call.ts'
import type { Parts } from './parts.ts'
import { rateChecker } from './rate-check.ts'

export const pastedLanesEndpoint = serve(readPastedLanes, async ({ body, caller, now }, parts) => {
  const read = readPasted(body.text)
  const pasted = read.rows.some(({ basis }) => basis !== null)
    ? onDefaultBasis(read, await defaultBasis(caller.tenant, parts))
    : read
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

/** The basis on which the brokerage quotes. */
async function defaultBasis(tenant: TenantId, { database }: Parts): Promise<RateBasis> {
  return database.inTenant(tenant, (transaction) => people.defaultBasisOf(transaction, tenant))
}

const basisWords: Readonly<Record<RateBasis, string>> = { linehaul: 'linehaul', all_in: 'all-in' }

/** The rows with rates and costs on the default basis. A row that cannot be converted has an error. */
function onDefaultBasis(pasted: ReturnType<typeof readPasted>, wanted: RateBasis) {
  const rows = pasted.rows.map((row): PastedRow => {
    const { basis, rate, cost, fuel } = row
    if (basis === null || basis === wanted || rate === null) return row
    const converted = (dollars: number) => {
      const [cents, fuelCents] = [centsFromDollars(dollars), fuel === null ? null : centsFromDollars(fuel)]
      return cents === null
        ? null
        : dollarsIfKnown(centsOnBasis({ cents, basis, fuelCents, accessorialCents: null }, wanted))
    }
    const convertedRate = converted(rate)
    if (convertedRate === null) {
      const detail = `The rate is ${basisWords[basis]} by the name of its column, and your rates are ${basisWords[wanted]}. Add a column with the fuel surcharge, or name the column Rate if it is ${basisWords[wanted]}`
      return { ...row, errors: [...row.errors, { detail, suggestions: [] }] }
    }
    return { ...row, rate: convertedRate, cost: cost === null ? null : converted(cost) }
  })
  return { ...pasted, rows }
}

type PastedRow = ReturnType<typeof readPasted>['rows'][number]
const at = (field: string) => ({ pointer: `/${field}` })
