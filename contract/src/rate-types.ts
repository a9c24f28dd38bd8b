import Type from 'typebox'
import { oneOf } from './fields.ts'

/** The types of a rate: for one load (spot) or for a period (contract). */
export const rateTypes = ['spot', 'contract'] as const
/** The quotes that a number is computed from: all, or those of one rate type. */
export const pools = ['all', ...rateTypes] as const

/** Selects the quotes of a rate type in lists and statistics. */
export const ofRateType = Type.Optional(oneOf('Only spot or only contract quotes. Both if absent', rateTypes))

/** Selects the quotes that advice counts. */
export const askedPool = Type.Optional(
  oneOf(
    "The quotes that count: those of spot, those of contract, or all. If absent, the brokerage's setting integration_pool decides for a service token, and its default_rate_type for a person. An estimate is always for spot or contract",
    pools,
  ),
)
