import { placeFields } from './place-fields.ts'

/** The fields of a lane of a bid, and of the answer. This file imports no package, because the dashboard uses it. */
export const bidFields = [
  'lane_id',
  ...placeFields,
  'equipment',
  'volume',
  'miles',
  'target',
  'rank',
  'rate',
] as const
export type BidField = (typeof bidFields)[number]

export const bidStages = ['open', 'submitted', 'awarded', 'lost', 'withdrawn'] as const
/** The times that a volume can be of. `contract`: all months of the contract together. */
export const volumePeriods = ['year', 'month', 'week', 'contract'] as const
export type VolumePeriod = (typeof volumePeriods)[number]
