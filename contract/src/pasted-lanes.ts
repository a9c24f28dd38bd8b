import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable } from './fields.ts'
import { pastedLengthMax, pastedRowsMax } from './limits.ts'

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
  'market',
  'pickup',
  'customer',
] as const

const dollars = nullable(Type.Number({ description: 'Dollars' }))

export const readPastedLanes = endpoint({
  name: 'read-pasted-lanes',
  method: 'POST',
  path: '/api/pasted-lanes',
  summary: 'Read rows pasted from a spreadsheet or a mail',
  description: `Reads up to ${pastedRowsMax} rows of lanes, divided by tabs, semicolons or commas. Columns are known by a line of names, or by what stands in them. Says which column was read as what, the lane of each row, and what is wrong with a row. Nothing is stored.`,
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  isRead: true,
  bodyBytesMax: 4 * pastedLengthMax,
  body: Type.Object({
    text: Type.String({
      description: 'The rows as they were pasted',
      maxLength: pastedLengthMax,
      'x-expected': `text of at most ${pastedLengthMax.toLocaleString('en-US')} characters`,
    }),
  }),
  status: 200,
  answer: Type.Object({
    header: nullable(
      Type.String({ description: 'The line of column names, as pasted; null when there is none' }),
    ),
    columns: Type.Array(
      Type.Object({
        column: Type.Integer({ description: 'The first is 1' }),
        name: nullable(Type.String({ description: 'Its name, when there is a line of names' })),
        field: nullable(
          Type.Enum([...pastedFields], { description: 'What it was read as; null when it was not read' }),
        ),
      }),
    ),
    problem: nullable(Type.String({ description: 'Why no row could be read; null when rows were' })),
    rows: Type.Array(
      Type.Object({
        line: Type.Integer({ description: 'The line in the text; the first is 1' }),
        text: Type.String({ description: 'The row with tabs between its cells' }),
        origin: nullable(Type.String()),
        destination: nullable(Type.String()),
        equipment: nullable(Type.String()),
        rate: dollars,
        cost: dollars,
        market: dollars,
        pickup: nullable(Type.String({ description: 'A day such as 2026-03-05' })),
        customer: nullable(Type.String()),
        errors: Type.Array(Type.Object({ detail: Type.String(), suggestions: Type.Array(Type.String()) }), {
          description: 'What is wrong with the row; none when it can be quoted',
        }),
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
          market: null,
          pickup: null,
          customer: null,
          errors: [],
        },
      ],
    },
  },
})
