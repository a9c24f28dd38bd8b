import type { QuotedLanes, QuoteListener } from '../quotes/quoted-lanes.ts'
import { type RateType, rateTypes } from '../rate-type.ts'
import { beforeChange } from './current-lane.ts'
import type { Estimator } from './estimator.ts'
import { type CostModel, countLoad } from './expected-cost.ts'

/**
 * The models of win chances and truck costs from a brokerage's quotes of one rate type, prepared for a day and updated by `followChanges`.
 */
export interface PreparedModels {
  readonly estimator: Estimator
  readonly costs: CostModel
}

/** The models of each rate type. Null without quotes of the type; spot has models if there are no quotes at all. */
export type ModelsByType = Readonly<Record<RateType, PreparedModels | null>>

/** Models that are being prepared, or that are in use. */
export interface ListeningModels {
  readonly estimators: readonly Estimator[]
  readonly costs: Readonly<Partial<Record<RateType, CostModel>>>
}

/**
 * The models that answer about quotes of a rate type: those of its own quotes, else those of the other type.
 *
 * @example modelsFor(prepared, 'contract').rateType // 'spot' in a brokerage without contract quotes
 */
export function modelsFor(
  prepared: ModelsByType,
  rateType: RateType,
): PreparedModels & { readonly rateType: RateType } {
  for (const one of [rateType, ...rateTypes]) {
    const models = prepared[one]
    if (models !== null) return { ...models, rateType: one }
  }
  throw new Error('A prepared book has models of a rate type.')
}

/**
 * A listener that updates models when quotes change. `models` is called at each change, because a preparation in steps begins one
 * model after the other.
 *
 * @example book.listen(followChanges(book, () => ({ estimators: [estimator], costs: {} })))
 */
export function followChanges(quoted: QuotedLanes, models: () => ListeningModels): QuoteListener {
  const { columns } = quoted
  return {
    changing: (lane) => {
      for (const estimator of models().estimators) beforeChange(estimator, lane)
    },
    counting: (row, by) => {
      const costs = models().costs[columns.rateTypeOf(row)]
      if (costs === undefined) return
      const load = {
        costCents: columns.costCents[row]!,
        miles: columns.miles[row]!,
        at: columns.quotedAt[row]!,
        costKeys: quoted.identity(columns.lane[row]!).costKeys,
      }
      countLoad(costs, load, by)
    },
  }
}
