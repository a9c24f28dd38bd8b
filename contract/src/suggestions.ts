import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { isDisplayText, nullable, printable, wholeNumber } from './fields.ts'
import { labelLengthMax, suggestionsDefault, suggestionsMax } from './limits.ts'

/** The text typed so far. It may be empty. */
function typed(description: string) {
  return Type.Refine(
    Type.String({
      description,
      maxLength: labelLengthMax,
      pattern: printable,
      'x-expected': `text of at most ${labelLengthMax} characters without control characters`,
    }),
    (value) => isDisplayText(value),
    () => 'text',
  )
}

const limit = Type.Optional(
  wholeNumber(`Maximum number of suggestions; default ${suggestionsDefault}`, 1, suggestionsMax),
)

export const suggestPlaces = endpoint({
  name: 'suggest-places',
  method: 'GET',
  path: '/api/places',
  summary: 'Place suggestions for autocomplete',
  description:
    'Known places that match the text, best first: the city and state as typed, with or without a comma; the city typed without a state; names with the typed prefix; names that differ by a typing error. Within each group, the places that the brokerage quotes most come first, then the most populous. Without text, the places that the brokerage quotes most.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({ q: Type.Optional(typed('The typed part of "City, ST"')), limit }),
  status: 200,
  answer: Type.Object({
    reads_as: nullable(
      Type.String({
        description:
          'The known place that the text names unambiguously: 75201, DFW and Dallas TX are Dallas, TX. Null if there is none',
      }),
    ),
    places: Type.Array(
      Type.Object({
        place: Type.String({
          description: 'The value for an origin or destination parameter, such as Dallas, TX',
        }),
        city: Type.String(),
        state: Type.String(),
        population: Type.Integer({ description: '0 if unknown' }),
      }),
    ),
    as_typed: nullable(
      Type.String({
        description:
          'The text itself as a place, such as "Smallville, TX", if it names a city and a state that are not a known place. A program must not replace it with a suggested place without confirmation. Null for any other text',
      }),
    ),
  }),
  examples: {
    query: { q: 'dall', limit: 8 },
    answer: {
      reads_as: null,
      places: [{ place: 'Dallas, TX', city: 'Dallas', state: 'TX', population: 1300092 }],
      as_typed: null,
    },
  },
})

export const suggestCustomers = endpoint({
  name: 'suggest-customers',
  method: 'GET',
  path: '/api/customers',
  summary: 'Customer suggestions for autocomplete',
  description:
    'Customers of the brokerage whose name contains the typed text, ignoring case, most quoted first. Names that differ only in case are one customer, shown in the most frequent spelling.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({ q: Type.Optional(typed("The typed part of the customer's name")), limit }),
  status: 200,
  answer: Type.Object({
    customers: Type.Array(
      Type.Object({
        name: Type.String({
          description: 'The name on the booking if there is one, else the name on the quote',
        }),
        quotes: Type.Integer(),
        last_quoted_at: Type.String({ format: 'date-time' }),
      }),
    ),
  }),
  examples: {
    query: { q: 'har', limit: 8 },
    answer: {
      customers: [{ name: 'Harvest Table Foods', quotes: 212, last_quoted_at: '2026-03-01T14:00:00.000Z' }],
    },
  },
})
