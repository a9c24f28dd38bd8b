import Type from 'typebox'
import { dollars, label, nullable, oneOf } from './fields.ts'
import { chargesPerAmountMax } from './limits.ts'

/**
 * The basis of an amount: the charges that it includes. `linehaul` is the move alone. `all_in` is everything that is paid for the
 * load: linehaul, fuel and accessorials.
 */
export const rateBases = ['linehaul', 'all_in'] as const
export type RateBasis = (typeof rateBases)[number]

/** The amounts that have a basis and charges: the quoted rate, the booked revenue (AR), and the booked cost (AP). */
export const amountsWithBasis = ['quoted', 'customer', 'truck'] as const

/** The basis of an amount, in a request. @param of the amount in words, such as "the quoted rate" */
export const basisOf = (of: string) =>
  oneOf(
    `What ${of} includes: linehaul, or all_in with fuel and accessorials. If it was never sent, the default basis of the brokerage is assumed`,
    rateBases,
  )
/** The fuel charge of an amount, in a request. */
export const fuelOf = (of: string) =>
  dollars(
    `The fuel charge of ${of}: included in it if it is all_in, and paid besides it if it is linehaul. 0 means that there is none`,
  )
/** The accessorial charges of an amount, in a request. */
export const accessorialsOf = (of: string) =>
  dollars(
    `The accessorial charges of ${of}, such as detention and lumper: included in it if it is all_in, and paid besides it if it is linehaul`,
  )

/** The currencies of amounts. Statistics are in US dollars. */
export const currencies = ['USD', 'CAD'] as const
/** The currency of an amount, in a request. */
export const currencyOf = (of: string) =>
  oneOf(
    `The currency of ${of}; default USD. Canadian dollars are saved as sent, and statistics count them only on days with an exchange rate`,
    currencies,
  )
export const NamedCharge = Type.Object({
  name: label('What the charge is for, such as detention'),
  amount: dollars('The charge'),
})
/** The accessorial charges of an amount by name, in a request. */
export const chargesOf = (of: string) =>
  Type.Array(NamedCharge, {
    maxItems: chargesPerAmountMax,
    description: `The accessorial charges of ${of} by name, each name once. Their sum is the accessorial charges, which need not be sent`,
    'x-expected': `a list of at most ${chargesPerAmountMax} charges`,
  })

/** The fields for what a quoted rate includes, in a request. */
export const quotedCharges = {
  quoted_basis: Type.Optional(basisOf('quoted_rate and estimated_cost')),
  quoted_fuel: Type.Optional(fuelOf('quoted_rate')),
  quoted_accessorials: Type.Optional(accessorialsOf('quoted_rate')),
  quoted_charges: Type.Optional(chargesOf('quoted_rate')),
  quoted_currency: Type.Optional(currencyOf('quoted_rate, estimated_cost, market_rate and their charges')),
}

/** The basis of an amount, in a response. */
export const shownBasis = (of: string) => ({
  ...nullable(Type.Enum([...rateBases])),
  description: `What ${of} includes; null if it was not sent, so that the default basis of the brokerage is assumed`,
})
/** The fuel charge or accessorials of an amount, in a response. */
export const shownCharge = (what: string, of: string) => ({
  ...nullable(Type.Number()),
  description: `The ${what} of ${of} in dollars; null if it is not known`,
})

/** The accessorial charges by name, in a response. */
export const shownCharges = (of: string) => ({
  ...nullable(Type.Array(NamedCharge)),
  description: `The accessorial charges of ${of} by name; null if no names were sent`,
})
/** The currency of an amount, in a response. */
export const shownCurrency = (of: string) => ({
  ...nullable(Type.Enum([...currencies])),
  description: `The currency of ${of}; null if it was not sent, which means USD`,
})

/** The basis of the amounts in an answer, and how many quotes were converted to it or left out. */
export const ComparedBasis = Type.Object({
  currency: Type.Literal('USD', { description: 'The currency of the amounts of this answer' }),
  amounts: {
    ...Type.Enum([...rateBases]),
    description:
      'The basis of the rates, costs and margins of this answer: the default basis of the brokerage',
  },
  converted: Type.Integer({
    description:
      'Quotes of the selection with an amount on the other basis or in Canadian dollars that was converted',
  }),
  converted_by: Type.Object(
    {
      charges: Type.Integer({ description: 'Converted by their own fuel charges' }),
      schedule: Type.Integer({
        description:
          'Converted by the fuel schedule of the day: their own fuel charge is not known, and the schedule, the diesel price and the miles are',
      }),
      exchange: Type.Integer({
        description: 'With an amount in Canadian dollars, converted by the exchange rate of the day',
      }),
    },
    { description: 'How they were converted' },
  ),
  kept_apart: Type.Integer({
    description:
      'Quotes of the selection that are not counted, because an amount is on the other basis and neither its fuel charge nor the surcharge of the day is known, or because it is in Canadian dollars and the exchange rate of the day is not known',
  }),
  kept_apart_in_cad: Type.Integer({ description: 'Those of them with an amount in Canadian dollars' }),
  other_modes: Type.Optional(
    Type.Integer({
      description:
        'Quotes of the selection that are not counted, because they have stops or another mode than truckload; absent if there are none',
      minimum: 1,
    }),
  ),
})
export const exampleBasis: Type.Static<typeof ComparedBasis> = {
  currency: 'USD',
  amounts: 'all_in',
  converted: 0,
  converted_by: { charges: 0, schedule: 0, exchange: 0 },
  kept_apart: 0,
  kept_apart_in_cad: 0,
}
export type ComparedBasis = Type.Static<typeof ComparedBasis>
