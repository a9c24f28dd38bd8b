import Type from 'typebox'
import { day, oneOf } from './fields.ts'
import { rateTypes } from './lane.ts'

/** What a quote says about its load beside places and amounts, in pushes, quote requests and requotes. */
export const quotedDetails = {
  rate_type: Type.Optional(oneOf('Whether the rate is for one load or for a period', rateTypes)),
  pickup_date: Type.Optional(day('Date of pickup')),
}
