import Type from 'typebox'
import { dateOrders } from './date-orders.ts'
import { endpoint } from './endpoint.ts'
import { nullable, oneOf, wholeNumber } from './fields.ts'
import { ImportNote } from './imports.ts'
import { pastedColumnsMax, pastedLengthMax, pastedRowsMax } from './limits.ts'
import { quoteToMake } from './quote-requests.ts'
import { RateWarnings } from './rate-warnings.ts'

/** The fields of a column of pasted rows: those of a quote request, the parts of places, and the terms of the cost. */
export const pastedFields = [
  'origin',
  'origin_state',
  'origin_zip',
  'destination',
  'destination_state',
  'destination_zip',
  'equipment',
  'quoted_rate',
  'quoted_basis',
  'quoted_fuel',
  'quoted_accessorials',
  'quoted_charges',
  'quoted_currency',
  'estimated_cost',
  'cost_basis',
  'cost_currency',
  'market_rate',
  'miles',
  'pickup_date',
  'rate_type',
  'mode',
  'stops',
  'customer_name',
] as const

const column = Type.Integer({ description: 'Column number, from 1' })
const { valid_hours: _, ...quoteMembers } = quoteToMake.properties

export const readPastedQuotes = endpoint({
  name: 'read-pasted-quotes',
  method: 'POST',
  path: '/api/pasted-lanes',
  summary: 'Parse rows pasted from a spreadsheet or an e-mail',
  description: `Parses up to ${pastedRowsMax} rows of quotes, with tabs, semicolons or commas between cells. Columns are recognized by a header line or by their content. Rows of totals are left out. Returns the field of each column, and the cells, values, errors and warnings of each row. Nothing is saved.`,
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
    dates: Type.Optional(
      oneOf(
        'The order of day and month of dates such as 3/1/2026, if the rows do not show it; default: the setting date_order of the brokerage',
        dateOrders,
      ),
    ),
    columns: Type.Optional(
      Type.Array(
        Type.Object({
          column: wholeNumber('Column number, from 1', 1, pastedColumnsMax),
          field: Type.Optional(
            oneOf('The field of the column; without it, the column is ignored', pastedFields),
          ),
        }),
        {
          description: 'Columns whose field a person chose. The others are recognized',
          maxItems: pastedColumnsMax,
          'x-expected': `a list of at most ${pastedColumnsMax} columns`,
        },
      ),
    ),
    has_header: Type.Optional(
      Type.Boolean({ description: 'Whether the first line names the columns; default: as it is recognized' }),
    ),
    confirmed: Type.Optional(
      Type.Array(Type.String({ maxLength: pastedLengthMax }), {
        description:
          'Cells that are right as they are, although their place or equipment is not known: those of errors with `is_unknown`',
        maxItems: 2 * pastedRowsMax,
        'x-expected': `a list of at most ${2 * pastedRowsMax} texts`,
      }),
    ),
  }),
  status: 200,
  answer: Type.Object({
    header: nullable(Type.String({ description: 'The header line as pasted; null if there is none' })),
    columns: Type.Array(
      Type.Object({
        column,
        name: nullable(Type.String({ description: 'The column name from the header line, if there is one' })),
        field: nullable(
          Type.Enum([...pastedFields], {
            description: 'The field that the column was read as; null if the column was ignored',
          }),
        ),
      }),
    ),
    problem: nullable(
      Type.String({
        description:
          'Why no row could be parsed, which is also an error of each row; null if rows were parsed',
      }),
    ),
    understood: Type.Array(ImportNote, { description: 'How the rows were read, in sentences' }),
    rows: Type.Array(
      Type.Object({
        line: Type.Integer({ description: 'Line number in the text, from 1' }),
        cells: Type.Array(Type.String(), { description: 'The cells of the row, one for each column' }),
        quote: {
          ...Type.Partial(Type.Object({ ...quoteMembers, customer_name: Type.String() })),
          description:
            'The row as a quote of POST /api/quote-requests, as it was pasted: on its basis, in its currency. A field without a value, or with an error, is absent',
        },
        errors: Type.Array(
          Type.Object({
            column: nullable(column),
            detail: Type.String(),
            suggestions: Type.Array(Type.String({ description: 'Another text for the cell' })),
            is_unknown: Type.Boolean({
              description: 'true if the value is only not known, and can be `confirmed`',
            }),
          }),
          { description: 'The errors of the row; empty if the row can be quoted' },
        ),
        notes: Type.Array(Type.String(), {
          description:
            'What was changed: a cost on another basis than the rate is converted by the fuel charge of the row',
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
        { column: 4, name: null, field: 'quoted_rate' },
      ],
      problem: null,
      understood: [],
      rows: [
        {
          line: 1,
          cells: ['Dallas, TX 75201', 'ATL', "53' van", '2150'],
          quote: { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2150 },
          errors: [],
          notes: [],
          warnings: [],
        },
      ],
    },
  },
})
