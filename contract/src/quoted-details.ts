import Type from 'typebox'
import { day, oneOf, text, wholeNumber } from './fields.ts'
import { adviceLengthMax, adviceMinutes, validHoursMax } from './limits.ts'
import { sentMode } from './load-modes.ts'
import { rateTypes } from './rate-types.ts'

/** Fields of a quote beside places and amounts, in pushes, quote requests and requotes. */
export const quotedDetails = {
  rate_type: Type.Optional(oneOf('Whether the rate is for one load or for a period', rateTypes)),
  mode: sentMode,
  pickup_date: Type.Optional(day('Date of pickup')),
}

/** How long a quote that a person makes is valid. A push states the end instead, as `valid_until`. */
export const quotedValidity = {
  valid_hours: Type.Optional(
    wholeNumber(
      'For how many hours from now the rate is valid; saved as valid_until. A pricing rule that limits the validity is an upper bound. If absent, the rule sets it, or else the quote has no valid_until',
      1,
      validHoursMax,
    ),
  ),
}

const sealedFrom = `What the result was computed from, sealed. A quote request, a requote or a request for approval that returns it within ${adviceMinutes} minutes is judged by these same numbers, whatever was written meanwhile`

/** What advice on a quote was computed from. @param when the condition under which an answer has it */
export const sealedAdvice = (when = '') => Type.String({ description: `${when}${sealedFrom}` })

/** The advice by which a quote that a person makes is judged. */
export const quotedAdvice = {
  advice: Type.Optional(
    text(
      `advice of a result of POST /api/advice/lanes, or of GET /api/advice/markup, on this quote: the rate is checked, and the forecast made, by the numbers that were shown. 422 if it is for another quote or brokerage; 409 with the current numbers if it is older than ${adviceMinutes} minutes or the pricing rules changed. If absent, current numbers are used`,
      adviceLengthMax,
    ),
  ),
}
