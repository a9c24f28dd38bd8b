import { createHash } from 'node:crypto'
import type { Static, TObject } from 'typebox'
import type { FieldError } from '#contract/errors.ts'
import { batchSecondsMax } from '#contract/limits.ts'
import type * as contract from '#contract/push-items.ts'
import { shape } from '#contract/shape.ts'
import type { Steps } from '#engine/steps.ts'
import type { ServiceCaller } from '../../access/index.ts'
import { type NamedQuotes, pushedQuotes } from '../../database/queries/index.ts'
import type { QuoteRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { fingerprintOfId } from '../../imports/index.ts'
import { inHundreds, permitsLeftByPushes } from '../../limits/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import type { Signed } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { itemErrors } from './item-errors.ts'

export type RefusedItem = Static<typeof contract.RefusedItem>

/** Who pushed the items, and when. Together with an item, this decides its effect. */
export interface PushedBy {
  readonly caller: ServiceCaller
  readonly signed: Signed
  /** When the request arrived, epoch milliseconds. */
  readonly now: number
  /** True for a check: the transaction is rolled back. */
  readonly isCheck?: boolean
}

/** An item of a push with its index, its errors, and its names. */
export interface CheckedItem<Item> {
  readonly index: number
  readonly item: Item
  readonly errors: FieldError[]
}

/** How an item names its quote. The prefix distinguishes an external_id from an equal lane_ref. */
type QuoteName = `external_id ${string}` | `lane_ref ${string}`

interface NamedItem {
  readonly external_id?: string
  readonly lane_ref?: string
}

function nameOf({ external_id: id, lane_ref: ref }: NamedItem): QuoteName | null {
  return id !== undefined ? `external_id ${id}` : ref !== undefined ? `lane_ref ${ref}` : null
}

/**
 * Checks the items of a push: their fields, and that each names one quote, in one way, that no earlier item names. It runs in steps,
 * because 500 large items take a tenth of a second.
 */
export function itemChecker<Item extends NamedItem>(schema: TObject, what: string) {
  const itemShape = shape(schema, 'body')
  return (items: readonly unknown[]): Promise<CheckedItem<Item>[]> => {
    const first = new Map<string, number>()
    const check = (sent: unknown, index: number): CheckedItem<Item> => {
      if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
        const detail = `${what} must be a JSON object.`
        return { index, item: {} as Item, errors: [{ pointer: '', code: 'invalid', detail }] }
      }
      const item = sent as Item
      const errors = [...itemShape.errors(item)]
      const name = errors.length === 0 ? nameOf(item) : null
      if (errors.length === 0) {
        if (name === null) errors.push(neither)
        else if (item.external_id !== undefined && item.lane_ref !== undefined) errors.push(both)
        else if (first.has(name)) errors.push(repeated(item, first.get(name) ?? 0))
        else first.set(name, index)
      }
      return { index, item, errors }
    }
    return eachInSteps(items, check)
  }
}

/** Changes items one by one, in steps. */
export function eachInSteps<From, To>(
  items: readonly From[],
  change: (item: From, index: number) => To,
): Promise<To[]> {
  function* each(): Steps<To[]> {
    const changed: To[] = []
    for (const [index, item] of items.entries()) {
      changed.push(change(item, index))
      yield
    }
    return changed
  }
  return yieldBetweenSteps(each())
}

const neither: FieldError = {
  pointer: '/external_id',
  code: 'required',
  detail: 'external_id or lane_ref is required: it names the quote.',
}
const both: FieldError = {
  pointer: '/lane_ref',
  code: 'invalid',
  detail: 'external_id and lane_ref were both sent. Send one of them.',
}
function repeated({ external_id: id }: NamedItem, index: number): FieldError {
  const field = id === undefined ? 'lane_ref' : 'external_id'
  return {
    pointer: `/${field}`,
    code: 'repeated',
    detail: `This ${field} is also in item ${index} of this call, which counts. Send the second one in another call.`,
  }
}

/** The names of an item, for its result. Names that are not valid are left out. */
export function namesOf(item: NamedItem, errors: readonly FieldError[] = []): NamedItem {
  const isValid = (field: string) =>
    !errors.some(({ pointer, code }) => pointer === `/${field}` && code !== 'repeated')
  const { external_id: id, lane_ref: ref } = item
  return {
    ...(typeof id === 'string' && isValid('external_id') ? { external_id: id } : {}),
    ...(typeof ref === 'string' && isValid('lane_ref') ? { lane_ref: ref } : {}),
  }
}

export function refused(
  { index, item }: Pick<CheckedItem<NamedItem>, 'index' | 'item'>,
  errors: readonly FieldError[],
): RefusedItem {
  return { index, ...namesOf(item, errors), ...itemErrors(errors) }
}

export function unknownQuote({ index, item }: Pick<CheckedItem<NamedItem>, 'index' | 'item'>): RefusedItem {
  const name = item.external_id === undefined ? 'lane_ref' : 'external_id'
  return {
    index,
    ...namesOf(item),
    status: 404,
    detail: `No lane was found for ${name} ${JSON.stringify(item[name])}.`,
  }
}

/** An item with the quote that it names, locked; null if there is none. */
export type WithQuote<Checked> = Checked & { readonly quote: QuoteRow | null }

/** Ends a transaction without its changes. */
class EndOfCheck<Result> extends Error {
  readonly results: Result
  constructor(results: Result) {
    super('The transaction was a check.')
    this.results = results
  }
}

/**
 * Applies the items of a push, a hundred at a time, each hundred in one transaction that waits for the pushes of the same
 * brokerage before it. Items with errors are answered without the database. If `isCheck`, the transactions are rolled back.
 */
export async function pushItems<Checked extends CheckedItem<NamedItem>, Result>(
  checked: readonly Checked[],
  { caller: { tenant }, isCheck = false }: Pick<PushedBy, 'caller' | 'isCheck'>,
  parts: Pick<Parts, 'database' | 'tenantLimit' | 'monotonic'>,
  apply: (
    transaction: TenantTransaction,
    valid: readonly WithQuote<Checked>[],
  ) => Promise<readonly (Result | RefusedItem)[]>,
  isSameLoad: (item: Checked, quote: QuoteRow) => boolean = () => true,
): Promise<(Result | RefusedItem)[]> {
  type Results = readonly (Result | RefusedItem)[]
  const applyValid = async (valid: readonly Checked[]): Promise<Results> => {
    try {
      return await parts.database.inTenant(tenant, async (transaction) => {
        await pushedQuotes.lockPushes(transaction, tenant)
        const results = await apply(transaction, await withQuotes(transaction, tenant, valid, isSameLoad))
        if (isCheck) throw new EndOfCheck(results)
        return results
      })
    } catch (error) {
      if (error instanceof EndOfCheck) return error.results as Results
      throw error
    }
  }
  return inHundreds<Checked, Result | RefusedItem>(
    checked,
    async (hundred, _, inTime) => {
      const valid = hundred.filter(({ errors }) => errors.length === 0)
      const applied = valid.length === 0 ? [] : inTime() ? await applyValid(valid) : valid.map(notReached)
      if (applied.length !== valid.length) throw new Error('An item of a push has no result.')
      const resultOf = new Map(valid.map(({ index }, nth) => [index, applied[nth]]))
      return hundred.map((one) => resultOf.get(one.index) ?? refused(one, one.errors))
    },
    tenant,
    parts,
    permitsLeftByPushes,
  )
}

function notReached({ index, item }: CheckedItem<NamedItem>): RefusedItem {
  return {
    index,
    ...namesOf(item),
    status: 503,
    detail: `This item was not reached within ${batchSecondsMax} seconds. Send it again.`,
  }
}

async function withQuotes<Checked extends CheckedItem<NamedItem>>(
  transaction: TenantTransaction,
  tenant: TenantId,
  valid: readonly Checked[],
  isSameLoad: (item: Checked, quote: QuoteRow) => boolean,
): Promise<WithQuote<Checked>[]> {
  const named: NamedQuotes = {
    externalIds: valid.flatMap(({ item }) => item.external_id ?? []),
    laneRefs: valid.flatMap(({ item }) => item.lane_ref ?? []),
  }
  const quotes = new Map<QuoteName, QuoteRow>()
  for (const quote of await pushedQuotes.lockNamedQuotes(transaction, tenant, named)) {
    quotes.set(`lane_ref ${quote.lane_ref}`, quote)
    if (quote.external_id !== null) quotes.set(`external_id ${quote.external_id}`, quote)
  }
  const unknown = valid.filter(({ item }) => !quotes.has(nameOf(item) as QuoteName))
  for (const [item, quote] of await importedBefore(transaction, tenant, unknown, isSameLoad)) {
    quotes.set(nameOf(item) as QuoteName, quote)
  }
  return valid.map((one) => ({ ...one, quote: quotes.get(nameOf(one.item) as QuoteName) ?? null }))
}

/**
 * Finds the quotes that a file added with an item's external_id as its id. They get that external_id, so that the load has only one
 * quote.
 */
async function importedBefore<Checked extends CheckedItem<NamedItem>>(
  transaction: TenantTransaction,
  tenant: TenantId,
  unknown: readonly Checked[],
  isSameLoad: (item: Checked, quote: QuoteRow) => boolean,
): Promise<(readonly [item: NamedItem, lane: QuoteRow])[]> {
  const byFingerprint = new Map(
    unknown.flatMap((one) => {
      const { external_id: id } = one.item
      return id === undefined ? [] : [[fingerprintOfId(id).toString('hex'), { one, id }] as const]
    }),
  )
  const fingerprints = [...byFingerprint.keys()].map((hex) => Buffer.from(hex, 'hex'))
  const known = await pushedQuotes.lockImportedQuotes(transaction, tenant, fingerprints)
  const named = known.flatMap((quote) => {
    const asked = byFingerprint.get(quote.import_fingerprint.toString('hex'))
    return asked === undefined || !isSameLoad(asked.one, quote) ? [] : [{ ...asked, lane: quote }]
  })
  await pushedQuotes.nameImportedQuotes(
    transaction,
    tenant,
    named.map(({ id, lane: quote }) => ({ quoteId: quote.lane_id, externalId: id })),
  )
  return named.map(({ one, id, lane: quote }) => [one.item, { ...quote, external_id: id }] as const)
}

/** The digest by which an item of a repeated request is recognized. */
export function itemDigest({ requestDigest }: Signed, index: number): Buffer {
  return createHash('sha256').update(requestDigest).update(`.${index}`).digest()
}

/** How many results have each value of `result`, and how many items failed. */
export function countResults(results: readonly { readonly status: number; readonly result?: string }[]) {
  const count = (wanted: string) => results.filter(({ result }) => result === wanted).length
  return {
    created: count('created'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    failed: results.filter(({ status }) => status !== 200).length,
  }
}
