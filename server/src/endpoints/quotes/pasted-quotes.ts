import type { AnswerOf } from '#contract/endpoint.ts'
import { readPastedQuotes } from '#contract/pasted-quotes.ts'
import { usdCents } from '#engine/exchange-days.ts'
import { fuelOfMiles } from '#engine/fuel-surcharge.ts'
import { centsFromDollars, dollarsIfKnown } from '#engine/money.ts'
import { comparableCents, type RateBasis } from '#engine/rate-basis.ts'
import type { Steps } from '#engine/steps.ts'
import { appraiser, pricingOf } from '../../book/index.ts'
import { conversions, fuel, people } from '../../database/queries/index.ts'
import { readPasted } from '../../imports/index.ts'
import { readEquipment, readLanePlaces } from '../../quotes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { type AskedBy, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { fieldWarnings } from '../pricing/rate-warnings.ts'

export const pastedQuotesEndpoint = serve(readPastedQuotes, async ({ body, caller, now }, parts) => {
  const read = await yieldBetweenSteps(readPasted(body.text, now))
  const pasted = { ...read, rows: await onDefaultBasis(read.rows, { caller, now }, parts) }
  const toCheck = pasted.rows.filter(({ rate, errors }) => rate !== null && errors.length === 0)
  const { tenant } = caller
  const { database } = parts
  const appraise =
    toCheck.length === 0
      ? null
      : appraiser(await pricingOf(parts, tenant, now), {
          tenant,
          now,
          read: (work) => database.inTenant(tenant, work),
        })
  const rows: AnswerOf<typeof readPastedQuotes>['rows'] = []
  for (const row of pasted.rows) rows.push({ ...row, warnings: await warningsOfRow(row) })
  return { ...pasted, rows }

  async function warningsOfRow(row: ConvertedRow) {
    const { equipment, rate, cost, errors } = row
    if (appraise === null || rate === null || errors.length > 0) return []
    const places = placesOf(row)
    // Without an equipment, the desk quotes a van.
    const code = readEquipment(equipment ?? 'V', {}, [])
    if (places === null || code === null) return []
    const appraisal = await appraise({
      lane: { ...places, equipment_code: code },
      quotedFor: { customerName: row.customer, repId: caller.userId, rateType: null },
      enteredCents: cost === null ? null : centsFromDollars(cost),
      customer: null,
    })
    return fieldWarnings('rate', appraisal.at(centsFromDollars(rate) ?? 0))
  }
})

function placesOf({ origin, destination }: PastedRow) {
  return readLanePlaces({ origin: origin ?? '', destination: destination ?? '' }, at, [], true)
}

const basisWords: Readonly<Record<RateBasis, string>> = { linehaul: 'linehaul', all_in: 'all-in' }

/**
 * The rows with rates and costs in US dollars on the default basis. Canadian dollars are converted by today's exchange rate; the
 * basis by the row's own fuel charge, else by today's fuel surcharge. A row that cannot be converted has an error.
 */
async function onDefaultBasis(
  rows: readonly PastedRow[],
  { caller: { tenant }, now }: AskedBy,
  { database }: Pick<Parts, 'database'>,
): Promise<ConvertedRow[]> {
  const isAsAssumed = ({ basis, cost_basis, currency }: PastedRow) =>
    basis === null && cost_basis === null && currency !== 'CAD'
  if (rows.every(isAsAssumed)) return rows.map(asPasted)
  return database.inTenant(tenant, async (transaction) => {
    const wanted = await people.defaultBasisOf(transaction, tenant)
    const today = new Date(now).toISOString().slice(0, 10)
    const perMile = new Map<string | null, fuel.FuelOfDay>()
    for (const customer of new Set(rows.filter(({ fuel }) => fuel === null).map((row) => row.customer))) {
      perMile.set(customer, await fuel.fuelOfDay(transaction, tenant, customer, today))
    }
    const usdPerCad = await conversions.usdPerCadOn(transaction, tenant, today)
    return rows.map((row) => {
      const inUsd = row.currency === 'CAD' ? rowInUsd(row, usdPerCad) : asPasted(row)
      return inUsd.errors.length > row.errors.length
        ? inUsd
        : convertedRow(inUsd, wanted, perMile.get(row.customer)?.rate ?? null)
    })
  })
}

/** A row in Canadian dollars with its amounts in US dollars; with an error if today's exchange rate is not known. */
function rowInUsd(row: PastedRow, usdPerCad: number | null): ConvertedRow {
  if (usdPerCad === null) {
    const detail =
      'The row is in Canadian dollars, and no exchange rate of today is entered. Enter one in Settings, or paste US dollars'
    return { ...asPasted(row), errors: [...row.errors, { detail, suggestions: [] }] }
  }
  const inUsd = (dollars: number | null) =>
    dollars === null ? null : dollarsIfKnown(usdCents(centsFromDollars(dollars) ?? 0, usdPerCad))
  const { rate, cost, fuel, accessorials, market } = row
  return {
    ...row,
    rate: inUsd(rate),
    cost: inUsd(cost),
    fuel: inUsd(fuel),
    accessorials: inUsd(accessorials),
    market: inUsd(market),
    converted_by: 'exchange',
  }
}

const asPasted = (row: PastedRow): ConvertedRow => ({ ...row, converted_by: null })

/** A row with its rate and its cost on the wanted basis; with an error if one of them cannot be converted. */
function convertedRow(row: ConvertedRow, wanted: RateBasis, millsPerMile: number | null): ConvertedRow {
  const isOther = {
    rate: isOnOther(row.rate, row.basis, wanted),
    cost: isOnOther(row.cost, row.cost_basis, wanted),
  }
  if (!isOther.rate && !isOther.cost) return row
  const miles = placesOf(row)?.miles ?? null
  const scheduled = millsPerMile === null || miles === null ? null : fuelOfMiles(millsPerMile, miles)
  const fuelCents = row.fuel === null ? scheduled : centsFromDollars(row.fuel)
  const accessorialCents = row.accessorials === null ? null : centsFromDollars(row.accessorials)
  const converted = (dollars: number | null, basis: RateBasis | null) => {
    const cents = dollars === null ? null : centsFromDollars(dollars)
    return cents === null
      ? null
      : dollarsIfKnown(comparableCents({ cents, basis, fuelCents, accessorialCents }, wanted))
  }
  const rate = isOther.rate ? converted(row.rate, row.basis) : row.rate
  const cost = isOther.cost ? converted(row.cost, row.cost_basis) : row.cost
  const remedy = 'Add a column with the fuel surcharge, set a fuel schedule in Settings, or'
  if (isOther.rate && rate === null) {
    const detail = `The rate is ${basisWords[row.basis ?? wanted]}, and your rates are ${basisWords[wanted]}. ${remedy} name the column Rate if it is ${basisWords[wanted]}`
    return { ...row, errors: [...row.errors, { detail, suggestions: [] }] }
  }
  if (isOther.cost && cost === null) {
    const detail = `The estimated cost is ${basisWords[row.cost_basis ?? wanted]}, and your costs are ${basisWords[wanted]}. ${remedy} remove the cost`
    return { ...row, errors: [...row.errors, { detail, suggestions: [] }] }
  }
  return {
    ...row,
    rate,
    cost,
    converted_by: row.converted_by ?? (row.fuel === null ? 'schedule' : 'charges'),
  }
}

const isOnOther = (dollars: number | null, basis: RateBasis | null, wanted: RateBasis) =>
  dollars !== null && basis !== null && basis !== wanted

type PastedRow = (ReturnType<typeof readPasted> extends Steps<infer Pasted> ? Pasted : never)['rows'][number]
type ConvertedRow = PastedRow & Pick<AnswerOf<typeof readPastedQuotes>['rows'][number], 'converted_by'>
const at = (field: string) => ({ pointer: `/${field}` })
