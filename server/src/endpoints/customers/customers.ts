import type Type from 'typebox'
import {
  type Customer,
  changeCustomer,
  dismissCustomerVariant,
  exportCustomers,
  getCustomer,
  listCustomers,
  listCustomerVariants,
  mergeCustomers,
  offerCustomerVariant,
  renameCustomer,
  unmergeCustomer,
} from '#contract/customers.ts'
import type { AnswerOf, QueryOf } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import { comparedCustomersMax, customerLanesMax, nameVariantsMax, pageSizeDefault } from '#contract/limits.ts'
import type { ComparedBasis } from '#contract/rate-basis.ts'
import { customerKey, nameVariants } from '#engine/customer-name.ts'
import type { PerformanceCursor } from '#engine/quote-statistics/performance-groups.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { RateType } from '#engine/rate-type.ts'
import { percentOf } from '#engine/statistics/percent-of.ts'
import { type Doing, recordEvent } from '../../audit/index.ts'
import { statisticsOf } from '../../book/index.ts'
import { csvHead, csvLines } from '../../csv/index.ts'
import { customers, people, teams, userNames } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { csvPages, exportedAtOnce } from '../csv-pages.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { copyFuelSchedule } from '../market/fuel-schedule.ts'
import { cursorText } from '../page-cursor.ts'
import type { Parts } from '../parts.ts'
import { basisCells, basisHeaders } from '../performance/compared-basis.ts'
import { figureColumns } from '../performance/performance-csv.ts'
import { namesOf, orderOf, performancePage, readPerformanceCursor } from '../performance/performance-rows.ts'

type CustomerAnswer = Type.Static<typeof Customer>

/** The days of each of the two periods that the trend of a customer compares. */
const trendDays = 90

/** Customers in the form of the API, by key. `names` has the name of each customer without a record. */
async function customerAnswers(
  transaction: TenantTransaction,
  tenant: TenantId,
  names: readonly { readonly key: string; readonly name: string }[],
): Promise<CustomerAnswer[]> {
  const records = await customers.customersOfKeys(
    transaction,
    tenant,
    names.map(({ key }) => key),
  )
  const aliases = await customers.aliasesOf(
    transaction,
    tenant,
    records.map(({ customerId }) => customerId),
  )
  const people = await userNames(
    transaction,
    tenant,
    aliases.flatMap(({ mergedBy }) => (mergedBy === null ? [] : [mergedBy])),
  )
  const recordOf = new Map(records.map((record) => [record.key, record]))
  return names.map(({ key, name }) => {
    const record = recordOf.get(key)
    const own = aliases.filter(({ customerId }) => customerId === record?.customerId)
    return {
      name: record?.name ?? name,
      customer_id: record?.customerId ?? null,
      tier: record?.tier ?? null,
      payment_days: record?.paymentDays ?? null,
      aliases: own.map((alias) => ({
        name: alias.name,
        merged_at: alias.mergedAt.toISOString(),
        merged_by: alias.mergedBy === null ? null : (people.get(alias.mergedBy) ?? null),
      })),
    }
  })
}

async function customerAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
  { key, name }: { readonly key: string; readonly name: string },
): Promise<CustomerAnswer> {
  const [answer] = await customerAnswers(transaction, tenant, [{ key, name }])
  if (answer === undefined) throw new Error('One answer per customer.')
  return answer
}

/** The record of a customer that has one. */
async function recordOf(transaction: TenantTransaction, tenant: TenantId, name: string) {
  const record = await customers.findCustomer(transaction, tenant, name)
  if (record === null) throw new Error('A customer that was just created has a record.')
  return record
}

interface Rename {
  readonly before: customers.CustomerRecord
  readonly newName: string
}

/** Refuses a new name of another customer, which would lose its settings. @throws Problem state-conflict, 422 */
async function checkNewName(
  transaction: TenantTransaction,
  tenant: TenantId,
  { before, newName }: Rename,
  taken: customers.CustomerRecord | null,
): Promise<void> {
  if (await customers.isQuotedCustomer(transaction, tenant, newName)) {
    throw invalid([
      {
        pointer: '/new_name',
        code: 'invalid',
        detail: `new_name must not be the name of another customer with quotes, as ${newName} is. Merge ${before.name} into it instead.`,
      },
    ])
  }
  if (taken === null) return
  const instead = `Merge ${before.name} into ${taken.name} instead. Nothing was changed.`
  if (taken.key !== customerKey(newName)) {
    throw problem('state-conflict', `${newName} is another name of the customer ${taken.name}. ${instead}`)
  }
  const aliases = await customers.aliasesOf(transaction, tenant, [taken.customerId])
  const settings = async ({ tier, paymentDays, customerId }: customers.CustomerRecord) =>
    JSON.stringify([tier, paymentDays, await teams.teamsOfCustomer(transaction, tenant, customerId)])
  const own = await settings(taken)
  // A rename that was undone left a record with the same settings, which may be used again.
  const loses = own !== JSON.stringify([null, null, []]) && own !== (await settings(before))
  if (aliases.length === 0 && !loses) return
  throw problem(
    'state-conflict',
    `${taken.name} is another customer, with its own tier, payment terms, teams or other names. ${instead}`,
  )
}

/**
 * Renames a customer: the record of the new name gets its settings, and it is merged into that. Only another spelling of the
 * same key replaces the name. A new name also gets the fuel schedule of the old one; an alias keeps what applies to its own quotes.
 */
async function renamed(
  transaction: TenantTransaction,
  doing: Doing,
  { before, newName }: Rename,
): Promise<customers.CustomerRecord> {
  const { tenant, userId } = doing.caller
  const now = new Date(doing.now)
  if (customerKey(newName) === before.key) {
    if (newName !== before.name) {
      await customers.respellCustomer(transaction, tenant, before.customerId, newName)
    }
    return recordOf(transaction, tenant, newName)
  }
  const taken = await customers.findCustomer(transaction, tenant, newName)
  const isAlias = taken?.customerId === before.customerId
  if (isAlias) {
    // One of its aliases becomes its name.
    await customers.unmergeCustomer(transaction, tenant, newName)
  } else {
    await checkNewName(transaction, tenant, { before, newName }, taken)
  }
  const to = await customers.ensureCustomer(transaction, tenant, newName, now)
  const settings = { tier: before.tier, payment_days: before.paymentDays }
  await customers.changeCustomer(transaction, tenant, to, settings, now)
  await teams.copyCustomerTeams(transaction, tenant, { from: before.customerId, to })
  const into = await recordOf(transaction, tenant, newName)
  await customers.mergeCustomer(transaction, tenant, { from: before, into }, { now, userId })
  if (!isAlias) await copyFuelSchedule(transaction, doing, { from: before.name, to: newName })
  return into
}

const decisions = ({ won, lost }: { readonly won: number; readonly lost: number }) => ({
  decided: won + lost,
  won,
  win_rate_pct: percentOf(won, won + lost),
})

const oneDecimal = (value: number | null) => (value === null ? null : Math.round(value * 10) / 10)

async function customerPage(
  parts: Pick<Parts, 'books' | 'database'>,
  tenant: TenantId,
  { name, rate_type: rateType }: QueryOf<typeof getCustomer>,
  now: number,
): Promise<AnswerOf<typeof getCustomer>> {
  const selection = { customerName: name, ...(rateType === undefined ? {} : { rateType }) }
  const statistics = await statisticsOf(parts, tenant)
  const answers = await statistics.customerAnswers(selection, { now, days: trendDays })
  const known = await parts.database.inTenant(tenant, async (transaction) => {
    const record = await customers.findCustomer(transaction, tenant, name)
    if (record === null && answers.quotes === 0) {
      throw problem('not-found', `No customer is called ${name.trim()}.`)
    }
    const named = { key: record?.key ?? customerKey(name), name: answers.name ?? name.trim() }
    return customerAnswer(transaction, tenant, named)
  })
  const page = (by: 'month' | 'lane', limit: number) =>
    performancePage(parts, tenant, { query: { by }, selection, cursor: null, limit })
  const months = await page('month', monthsMax)
  const lanes = await page('lane', customerLanesMax)
  return {
    ...known,
    totals: months.totals,
    last_quoted_at: answers.lastQuotedAt === null ? null : new Date(answers.lastQuotedAt).toISOString(),
    response: {
      quotes: answers.answered,
      median_hours: oneDecimal(answers.medianHours),
      slow_hours: oneDecimal(answers.slowHours),
    },
    trend: { days: trendDays, recent: decisions(answers.recent), before: decisions(answers.before) },
    basis: months.basis,
    months: months.rows,
    lanes: lanes.rows,
    lanes_total: lanes.rows_total,
  }
}

/** The months on the page of a customer: ten years. */
const monthsMax = 120

type ListedCustomer = AnswerOf<typeof listCustomers>['customers'][number]

const listOrder = ({ sort, order }: Pick<QueryOf<typeof listCustomers>, 'sort' | 'order'>) =>
  ({ by: 'customer', ...(sort && { sort }), ...(order && { order }) }) as const

/** A page of the customers with a name that contains `q`, and the cursor of the next page. */
async function customersPage(
  parts: Pick<Parts, 'books' | 'database'>,
  tenant: TenantId,
  {
    q,
    rateType,
    cursor,
    limit,
    ...query
  }: ReturnType<typeof listOrder> & {
    readonly q: string | undefined
    readonly rateType: RateType | undefined
    readonly cursor: PerformanceCursor | null
    readonly limit: number
  },
): Promise<{
  customers: ListedCustomer[]
  total: number
  next: PerformanceCursor | null
  basis: ComparedBasis
}> {
  const found = await performancePage(parts, tenant, {
    query,
    selection: rateType === undefined ? {} : { rateType },
    cursor,
    limit,
    ...(q === undefined ? {} : { named: q.trim() }),
  })
  const named = found.rows.map(({ key, label }) => ({ key, name: label }))
  const answers = await parts.database.inTenant(tenant, (transaction) =>
    customerAnswers(transaction, tenant, named),
  )
  return {
    customers: found.rows.flatMap(({ key: _key, label: _label, lane: _lane, ...figures }, at) => {
      const [customer, lastQuoted] = [answers[at], found.lastQuoted[at]]
      return customer === undefined || lastQuoted === undefined
        ? []
        : [{ ...customer, ...figures, last_quoted_at: lastQuoted.toISOString() }]
    }),
    total: found.rows_total,
    next: found.next,
    basis: found.basis,
  }
}

const csvColumns: readonly (readonly [string, (customer: ListedCustomer) => string | number | null])[] = [
  ['Customer', ({ name }) => name],
  ['Other names', ({ aliases }) => aliases.map(({ name }) => name).join('; ')],
  ['Tier', ({ tier }) => tier],
  ['Payment days', ({ payment_days }) => payment_days],
  ['Last quoted', ({ last_quoted_at }) => last_quoted_at],
  ...figureColumns,
]
const customersCsvHead = () => csvHead([...csvColumns.map(([header]) => header), ...basisHeaders])
const customersCsvLines = (rows: readonly ListedCustomer[], basis: RateBasis) =>
  csvLines(rows.map((row) => [...csvColumns.map(([, cell]) => cell(row)), ...basisCells(basis)]))

export const customerEndpoints: ServedEndpoint[] = [
  serve(listCustomers, async ({ caller: { tenant }, query }, { books, database }) => {
    const order = listOrder(query)
    const { name } = orderOf(order)
    const cursor = readPerformanceCursor(query.cursor, name)
    const { limit = pageSizeDefault } = query
    const asked = { ...order, q: query.q, rateType: query.rate_type, cursor, limit }
    const { customers, total, next, basis } = await customersPage({ books, database }, tenant, asked)
    return {
      customers,
      basis,
      customers_total: total,
      next_cursor: next === null ? null : cursorText([name, next.rank, next.quotes, next.key]),
    }
  }),

  serve(exportCustomers, async ({ caller: { tenant }, query, now }, { books, database }) => ({
    fileName: `lanewise-customers-${new Date(now).toISOString().slice(0, 10)}.csv`,
    text: csvPages(customersCsvHead(), async (cursor: PerformanceCursor | null) => {
      const piece = {
        ...listOrder(query),
        q: query.q,
        rateType: query.rate_type,
        cursor,
        limit: exportedAtOnce,
      }
      const page = await customersPage({ books, database }, tenant, piece)
      return { lines: customersCsvLines(page.customers, page.basis.amounts), next: page.next }
    }),
  })),

  serve(getCustomer, async ({ caller: { tenant }, query, now }, { books, database }) =>
    customerPage({ books, database }, tenant, query, now),
  ),

  serve(changeCustomer, async (call, { database }) => {
    const { tenant } = call.caller
    const { name, tier = null, payment_days = null } = call.body
    const change = { tier, payment_days }
    return database.inTenant(tenant, async (transaction) => {
      const now = new Date(call.now)
      const id = await customers.ensureCustomer(transaction, tenant, name, now)
      const was = await recordOf(transaction, tenant, name)
      const before = { tier: was.tier, payment_days: was.paymentDays }
      const changed = Object.entries(change).filter(
        ([member, value]) => before[member as keyof typeof before] !== value,
      )
      if (changed.length > 0) {
        await customers.changeCustomer(transaction, tenant, id, change, now)
        await recordEvent(transaction, call, 'customer-changed', {
          about: {
            customer: was.name,
            before: Object.fromEntries(
              changed.map(([member]) => [member, before[member as keyof typeof before]]),
            ),
            after: Object.fromEntries(changed),
          },
        })
      }
      return customerAnswer(transaction, tenant, was)
    })
  }),

  serve(mergeCustomers, async (call, { database }) => {
    const { caller, body } = call
    const { tenant, userId } = caller
    const now = new Date(call.now)
    return database.inTenant(tenant, async (transaction) => {
      await people.lockTenant(transaction, tenant)
      await customers.ensureCustomer(transaction, tenant, body.from, now)
      await customers.ensureCustomer(transaction, tenant, body.into, now)
      const from = await recordOf(transaction, tenant, body.from)
      const into = await recordOf(transaction, tenant, body.into)
      const wrong = (detail: string) => invalid([{ pointer: '/from', code: 'invalid', detail }])
      if (from.customerId === into.customerId) {
        throw wrong(
          `${body.from.trim()} already counts for ${into.name}. It must be the name of another customer.`,
        )
      }
      if (from.key !== customerKey(body.from)) {
        throw wrong(
          `${body.from.trim()} is already merged into ${from.name}. Undo that merge first, or merge ${from.name}.`,
        )
      }
      await customers.mergeCustomer(transaction, tenant, { from, into }, { now, userId })
      await recordEvent(transaction, call, 'customer-merged', {
        about: { customer: from.name, into: into.name },
      })
      return customerAnswer(transaction, tenant, into)
    })
  }),

  serve(unmergeCustomer, async (call, { database }) => {
    const { caller, query } = call
    const { tenant } = caller
    return database.inTenant(tenant, async (transaction) => {
      await people.lockTenant(transaction, tenant)
      const from = await customers.findCustomer(transaction, tenant, query.name)
      if (from === null || !(await customers.unmergeCustomer(transaction, tenant, query.name))) {
        throw problem('not-found', `${query.name.trim()} is not merged into another customer.`)
      }
      const restored = await recordOf(transaction, tenant, query.name)
      await recordEvent(transaction, call, 'customer-unmerged', {
        about: { customer: restored.name, from: from.name },
      })
      return customerAnswer(transaction, tenant, restored)
    })
  }),

  serve(renameCustomer, (call, { database }) =>
    database.inTenant(call.caller.tenant, async (transaction) => {
      const { tenant } = call.caller
      const { name, new_name } = call.body
      await people.lockTenant(transaction, tenant)
      await customers.ensureCustomer(transaction, tenant, name, new Date(call.now))
      const before = await recordOf(transaction, tenant, name)
      const after = await renamed(transaction, call, { before, newName: new_name.trim() })
      if (after.name !== before.name) {
        await recordEvent(transaction, call, 'customer-renamed', {
          about: { customer: before.name, to: after.name },
        })
      }
      return customerAnswer(transaction, tenant, after)
    }),
  ),

  serve(dismissCustomerVariant, (call, { database }) =>
    database.inTenant(call.caller.tenant, async (transaction) => {
      const { tenant, userId } = call.caller
      const { name, other } = call.body
      const keys: string[] = []
      for (const one of [name, other]) {
        keys.push((await customers.findCustomer(transaction, tenant, one))?.key ?? customerKey(one))
      }
      if (keys[0] === keys[1]) {
        throw invalid([
          {
            pointer: '/other',
            code: 'invalid',
            detail: `other must be the name of another customer; ${other.trim()} counts for the same customer as ${name.trim()}.`,
          },
        ])
      }
      const by = { now: new Date(call.now), userId }
      if (await customers.distinguishCustomers(transaction, tenant, [name, other], by)) {
        await recordEvent(transaction, call, 'customer-variant-dismissed', {
          about: { customer: name.trim(), other: other.trim() },
        })
      }
      return { dismissed: true }
    }),
  ),

  serve(offerCustomerVariant, (call, { database }) =>
    database.inTenant(call.caller.tenant, async (transaction) => {
      const { tenant } = call.caller
      const { name, other } = call.query
      if (!(await customers.forgetDistinction(transaction, tenant, [name, other]))) {
        throw problem('not-found', `${name.trim()} and ${other.trim()} were not dismissed.`)
      }
      await recordEvent(transaction, call, 'customer-variant-offered', {
        about: { customer: name.trim(), other: other.trim() },
      })
      return { dismissed: false }
    }),
  ),

  serve(listCustomerVariants, async ({ caller: { tenant } }, { books, database }) => {
    const statistics = await statisticsOf({ books, database }, tenant)
    const order = { rank: 'quotes', direction: 'desc', cursor: null, limit: comparedCustomersMax } as const
    const { rows } = await statistics.performance('customer', {}, order)
    const { names, apart } = await database.inTenant(tenant, async (transaction) => ({
      names: await namesOf(transaction, tenant, 'customer', rows),
      apart: await customers.customerDistinctions(transaction, tenant),
    }))
    const found = rows.map(({ key, quotes }, at) => ({ key, quotes, name: names[at]?.label ?? key }))
    const pair = (one: string, other: string) => [one, other].toSorted().join('\n')
    const dismissed = new Set(apart.map(({ one, other }) => pair(one, other)))
    const spelling = (at: number) => ({ name: found[at]?.name ?? '', quotes: found[at]?.quotes ?? 0 })
    const pairs = await yieldBetweenSteps(nameVariants(found.map(({ name }) => name)))
    const variants = pairs.filter(
      ({ one, other }) => !dismissed.has(pair(found[one]?.key ?? '', found[other]?.key ?? '')),
    )
    return {
      variants: variants.slice(0, nameVariantsMax).map(({ one, other, because }) => ({
        keep: spelling(one),
        merge: spelling(other),
        because,
      })),
    }
  }),
]
