import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { isDisplayText, nullable, printable, wholeNumber } from './fields.ts'
import { labelLengthMax, suggestionsDefault, suggestionsMax } from './limits.ts'

/** What somebody has typed so far: it may be nothing yet. */
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
  wholeNumber(`Suggestions at most; ${suggestionsDefault} when absent`, 1, suggestionsMax),
)

export const suggestPlaces = endpoint({
  name: 'suggest-places',
  method: 'GET',
  path: '/api/places',
  summary: 'Places offered while somebody types',
  description:
    'Known places that the text may mean, best first: the city and state as typed, with or without a comma; the city typed without a state; names that begin as typed; names with a typing error. Within each, the places the brokerage quotes most come first, then the most populous. Nothing typed: the places the brokerage quotes most.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({ q: Type.Optional(typed('What has been typed of "City, ST"')), limit }),
  status: 200,
  answer: Type.Object({
    reads_as: nullable(
      Type.String({
        description:
          'The one place that the text names as it stands: 75201, DFW and Dallas TX are Dallas, TX. Null when it names none, or none that we know',
      }),
    ),
    places: Type.Array(
      Type.Object({
        place: Type.String({ description: 'As an origin or destination is sent: Dallas, TX' }),
        city: Type.String(),
        state: Type.String(),
        population: Type.Integer({ description: '0 where it is not known' }),
      }),
    ),
    as_typed: nullable(
      Type.String({
        description:
          'The text itself as a place, such as "Smallville, TX", where it names a city and a state that are no known place. A program must not replace it with one of the places without asking. Null for any other text',
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
  summary: 'Customers offered while somebody types',
  description:
    'Customers of the brokerage with the typed text anywhere in their name, in any case, most quoted first. A name written in several cases is one customer, shown as most often written.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({ q: Type.Optional(typed("What has been typed of the customer's name")), limit }),
  status: 200,
  answer: Type.Object({
    customers: Type.Array(
      Type.Object({
        name: Type.String({ description: 'The name on the booking where there is one, else on the quote' }),
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
