import type { AnswerOf } from '#contract/endpoint.ts'
import { type FieldError, invalid } from '#contract/errors.ts'
import type * as contract from '#contract/fuel.ts'
import { dieselWeeksShown } from '#contract/limits.ts'
import { customerKey } from '#engine/customer-name.ts'
import {
  type DieselPrice,
  type FuelPeriod,
  type FuelRule,
  formatMills,
  fuelMistakes,
  fuelPeriodOn,
} from '#engine/fuel-surcharge.ts'
import { type Doing, recordEvent } from '../../audit/index.ts'
import { fuel } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'

const millsOf = (dollars: number) => Math.round(dollars * 1000)
export const dollarsOf = (mills: number) => Math.round(mills) / 1000
export const weekAnswer = ({ week, mills }: DieselPrice) => ({ week, price: dollarsOf(mills) })

/** The rule of a sent period: either steps, or a base price with miles per gallon. */
function ruleOf(period: contract.SentFuelPeriod, index: number): FuelRule | FieldError {
  const { base_price: base, miles_per_gallon: milesPerGallon, steps } = period
  const wrong = (member: string, detail: string): FieldError => {
    return { pointer: `/periods/${index}/${member}`, code: 'invalid', detail: `${member}: ${detail}` }
  }
  if (steps !== undefined) {
    if (base !== undefined) return wrong('base_price', 'It must be absent in a period with steps.')
    if (milesPerGallon !== undefined) {
      return wrong('miles_per_gallon', 'It must be absent in a period with steps.')
    }
    return {
      kind: 'steps',
      steps: steps.map((step) => ({
        fromMills: millsOf(step.diesel_price),
        perMileMills: millsOf(step.per_mile),
      })),
    }
  }
  if (base === undefined) {
    return wrong('base_price', 'A period must have base_price and miles_per_gallon, or steps.')
  }
  if (milesPerGallon === undefined) return wrong('miles_per_gallon', 'It must be present with base_price.')
  return { kind: 'miles_per_gallon', baseMills: millsOf(base), milesPerGallon }
}

function readPeriods(sent: readonly contract.SentFuelPeriod[]): FuelPeriod[] {
  const errors: FieldError[] = []
  const periods = sent.flatMap((period, index): FuelPeriod[] => {
    const rule = ruleOf(period, index)
    if ('kind' in rule) return [{ fromDay: period.from, untilDay: period.until ?? null, rule }]
    errors.push(rule)
    return []
  })
  if (errors.length === 0) {
    for (const { index, member, detail } of fuelMistakes(periods)) {
      errors.push({ pointer: `/periods/${index}/${member}`, code: 'invalid', detail })
    }
  }
  if (errors.length > 0) throw invalid(errors)
  return periods.toSorted((one, other) => (one.fromDay < other.fromDay ? -1 : 1))
}

function periodAnswer(period: FuelPeriod, today: string) {
  const { fromDay, untilDay, rule } = period
  const withSteps = rule.kind === 'steps'
  return {
    from: fromDay,
    in_force: fuelPeriodOn([period], today) !== null,
    until: untilDay,
    base_price: withSteps ? null : dollarsOf(rule.baseMills),
    miles_per_gallon: withSteps ? null : rule.milesPerGallon,
    steps: withSteps
      ? rule.steps.map(({ fromMills, perMileMills }) => ({
          diesel_price: dollarsOf(fromMills),
          per_mile: dollarsOf(perMileMills),
        }))
      : null,
  }
}

/** A schedule in the audit log. @example 'from 2026-01-01: (diesel - $1.200) / 6 miles per gallon' */
function inWords(periods: readonly FuelPeriod[]): string | null {
  if (periods.length === 0) return null
  return periods
    .map(({ fromDay, untilDay, rule }) => {
      const days = untilDay === null ? `from ${fromDay}` : `${fromDay} to ${untilDay}`
      if (rule.kind === 'miles_per_gallon') {
        return `${days}: (diesel - ${formatMills(rule.baseMills)}) / ${rule.milesPerGallon} miles per gallon`
      }
      const steps = rule.steps.map(
        (step) => `${formatMills(step.perMileMills)} per mile from ${formatMills(step.fromMills)}`,
      )
      return `${days}: ${steps.join(', ')}`
    })
    .join('; ')
}

export async function fuelAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
  now: number,
): Promise<AnswerOf<typeof contract.getFuel>> {
  const periods = await fuel.listFuelPeriods(transaction, tenant)
  const today = new Date(now).toISOString().slice(0, 10)
  const prices = await fuel.newestDieselPrices(transaction, tenant, today, dieselWeeksShown)
  const [newest] = prices
  const byCustomer = Map.groupBy(periods, ({ customerName }) => customerName)
  return {
    diesel: newest === undefined ? null : weekAnswer(newest),
    newest_weeks: prices.map(weekAnswer),
    schedules: [...byCustomer].map(([customerName, own]) => ({
      customer_name: customerName === '' ? null : customerName,
      periods: own.map((period) => periodAnswer(period, today)),
    })),
  }
}

/** Records a changed schedule in the audit log. Call it like `recordEvent`. */
async function recordSchedule(
  transaction: TenantTransaction,
  doing: Doing,
  customerName: string,
  { before, after }: { readonly before: readonly FuelPeriod[]; readonly after: readonly FuelPeriod[] },
): Promise<void> {
  const [was, is] = [inWords(before), inWords(after)]
  if (was === is) return
  const setting = customerName === '' ? 'fuel_schedule' : `fuel_schedule of ${customerName.trim()}`
  await recordEvent(transaction, doing, 'settings-changed', {
    about: { before: { [setting]: was }, after: { [setting]: is } },
  })
}

/** Copies the fuel schedule of a customer name to another name, unless that name has one. */
export async function copyFuelSchedule(
  transaction: TenantTransaction,
  doing: Doing,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const { tenant } = doing.caller
  const stored = await fuel.listFuelPeriods(transaction, tenant)
  const of = (name: string) =>
    stored.filter(({ customerName }) => customerKey(customerName) === customerKey(name))
  const periods = of(from)
  if (periods.length === 0 || of(to).length > 0) return
  await fuel.replaceFuelPeriods(transaction, tenant, to, periods)
  await recordSchedule(transaction, doing, to, { before: [], after: periods })
}

/** Replaces the fuel schedule of a customer, or of the brokerage. @throws Problem that names the wrong member of a period */
export async function changeFuelSchedule(
  call: Call<typeof contract.changeFuelSchedule>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.changeFuelSchedule>> {
  const { caller, body, now } = call
  const periods = readPeriods(body.periods)
  const customerName = body.customer_name ?? ''
  return database.inTenant(caller.tenant, async (transaction) => {
    const key = customerKey(customerName)
    const stored = await fuel.listFuelPeriods(transaction, caller.tenant)
    const before = stored.filter((period) => customerKey(period.customerName) === key)
    await fuel.replaceFuelPeriods(transaction, caller.tenant, customerName, periods)
    const answer = await fuelAnswer(transaction, caller.tenant, now)
    await recordSchedule(transaction, call, customerName, { before, after: periods })
    return answer
  })
}
