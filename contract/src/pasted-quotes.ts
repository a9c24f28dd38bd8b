import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable } from './fields.ts'
import { pastedLengthMax, pastedRowsMax } from './limits.ts'
import { currencies, rateBases } from './rate-basis.ts'
import { RateWarnings } from './rate-warnings.ts'

export const pastedFields = [
  'origin',
  'origin_state',
  'origin_zip',
  'destination',
  'destination_state',
  'destination_zip',
  'equipment',
  'rate',
  'cost',
  'cost_basis',
  'cost_currency',
  'fuel',
  'accessorials',
  'basis',
  'market',
  'pickup',
  'customer',
  'currency',
] as const

const dollars = nullable(Type.Number({ description: 'Dollars' }))

export const readPastedQuotes = endpoint({
  name: 'read-pasted-quotes',
  method: 'POST',
  path: '/api/pasted-lanes',
  summary: 'Parse rows pasted from a spreadsheet or an e-mail',
  description: `Parses up to ${pastedRowsMax} rows of quotes, with tabs, semicolons or commas between cells. Columns are recognized by a header line or by their content. Returns the field of each column, and the values, errors and warnings of each row. Nothing is saved.`,
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  isRead: true,
  bodyBytesMax: 4 * pastedLengthMax,
  body: Type.Object({
    text: Type.String({
      description: 'The pasted text',
      maxLength: pastedLengthMax,
      'x-expected': `text of at most ${pastedLengthMax.toLocaleString('en-US')} characters`,
    }),
  }),
  status: 200,
  answer: Type.Object({
    header: nullable(Type.String({ description: 'The header line as pasted; null if there is none' })),
    columns: Type.Array(
      Type.Object({
        column: Type.Integer({ description: 'Column number, from 1' }),
        name: nullable(Type.String({ description: 'The column name from the header line, if there is one' })),
        field: nullable(
          Type.Enum([...pastedFields], {
            description: 'The field that the column was read as; null if the column was ignored',
          }),
        ),
      }),
    ),
    problem: nullable(Type.String({ description: 'Why no row could be parsed; null if rows were parsed' })),
    rows: Type.Array(
      Type.Object({
        line: Type.Integer({ description: 'Line number in the text, from 1' }),
        text: Type.String({ description: 'The row, with tabs between cells' }),
        origin: nullable(Type.String()),
        destination: nullable(Type.String()),
        equipment: nullable(Type.String()),
        rate: dollars,
        cost: dollars,
        fuel: { ...dollars, description: 'The fuel charge of the rate' },
        accessorials: { ...dollars, description: 'The accessorial charges of the rate' },
        basis: {
          ...nullable(Type.Enum([...rateBases])),
          description:
            'The basis of the rate as pasted, by a column Basis or the name of its own column; null if neither states it. A rate and a cost on the other basis were converted to the default basis of the brokerage; if they cannot be, the row has an error',
        },
        cost_basis: {
          ...nullable(Type.Enum([...rateBases])),
          description:
            'The basis of the cost as pasted, by a column Cost Basis, by the name of its own column, or else that of the rate; null if it is not known',
        },
        currency: {
          ...nullable(Type.Enum([...currencies])),
          description:
            'The currency of the amounts as pasted, if a column states it. Canadian dollars were converted to US dollars by the exchange rate of today; without one, or if a column Cost Currency has another currency, the row has an error',
        },
        converted_by: {
          ...nullable(Type.Enum(['charges', 'schedule', 'exchange'])),
          description:
            'How the rate and the cost were converted: by the fuel charge of the row, by the fuel schedule of today, or also by the exchange rate of today; null if they were not',
        },
        market: dollars,
        pickup: nullable(Type.String({ description: 'A date such as 2026-03-05' })),
        customer: nullable(Type.String()),
        errors: Type.Array(Type.Object({ detail: Type.String(), suggestions: Type.Array(Type.String()) }), {
          description: 'The errors of the row; empty if the row can be quoted',
        }),
        warnings: RateWarnings,
      }),
    ),
  }),
  examples: {
    body: { text: "Dallas, TX 75201\tATL\t53' van\t2150" },
    answer: {
      header: null,
      columns: [
        { column: 1, name: null, field: 'origin' },
        { column: 2, name: null, field: 'destination' },
        { column: 3, name: null, field: 'equipment' },
        { column: 4, name: null, field: 'rate' },
      ],
      problem: null,
      rows: [
        {
          line: 1,
          text: "Dallas, TX 75201\tATL\t53' van\t2150",
          origin: 'Dallas, TX',
          destination: 'Atlanta, GA',
          equipment: 'V',
          rate: 2150,
          cost: null,
          fuel: null,
          accessorials: null,
          basis: null,
          cost_basis: null,
          currency: null,
          converted_by: null,
          market: null,
          pickup: null,
          customer: null,
          errors: [],
          warnings: [],
        },
      ],
    },
  },
})
