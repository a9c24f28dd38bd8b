import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable, oneOf, text, wholeNumber } from './fields.ts'
import {
  cursorLengthMax,
  customerLanesMax,
  labelLengthMax,
  nameVariantsMax,
  pageSizeDefault,
  pageSizeMax,
  paymentDaysMax,
  tierLengthMax,
} from './limits.ts'
import { exampleFigures, PerformanceRow, PerformanceTotals, performanceFigures } from './performance.ts'
import { performanceSorts } from './performance-sorts.ts'
import { ComparedBasis, exampleBasis } from './rate-basis.ts'
import { ofRateType } from './rate-types.ts'

const moment = Type.String({ format: 'date-time' })
const rule =
  'Two names are of the same customer if they are equal without regard to case and white space, or if one was merged into the other'

const tier = text(
  `The tier of the customer, such as A, of at most ${tierLengthMax} characters`,
  tierLengthMax,
)
const paymentDays = wholeNumber('The days in which the customer pays', 0, paymentDaysMax)

export const CustomerAlias = Type.Object({
  name: Type.String(),
  merged_at: moment,
  merged_by: nullable(Type.String({ description: 'The person who merged it' })),
})

export const Customer = Type.Object({
  name: Type.String({ description: 'The name of the customer. It is also its identifier, in any spelling' }),
  customer_id: nullable(
    Type.Integer({ description: 'Null if nobody has set, merged or assigned anything for this customer' }),
  ),
  tier: nullable(tier),
  payment_days: nullable(paymentDays),
  aliases: Type.Array(CustomerAlias, {
    description: 'The names that were merged into this customer. Quotes keep the name that they have',
  }),
})

const exampleCustomer = {
  name: 'Harvest Table Foods',
  customer_id: 3,
  tier: 'A',
  payment_days: 30,
  aliases: [
    { name: 'Harvest Table Foods, Inc.', merged_at: '2026-02-27T14:00:00.000Z', merged_by: 'Ana Ortiz' },
  ],
}

const named = text('The name of the customer, in any spelling')
const customerSorts = [...performanceSorts, 'last_quoted'] as const
const selection = {
  q: Type.Optional(text('Only customers with a name that contains this text, in any case', labelLengthMax)),
  rate_type: ofRateType,
  sort: Type.Optional(oneOf('Order of the customers. Default: by quotes', customerSorts)),
  order: Type.Optional(
    oneOf('desc (the default) is highest or latest first. Customers without the figure are last', [
      'desc',
      'asc',
    ]),
  ),
}
const viewer = { kind: 'dashboard', role: 'viewer' } as const
// A tier and a merge decide which rules apply and which teams see a quote, so a member must not change them.
const admin = { kind: 'dashboard', role: 'admin' } as const

export const listCustomers = endpoint({
  name: 'list-customers',
  method: 'GET',
  path: '/api/customers/list',
  summary: 'Customers with their win rate and margin',
  description: `Every customer that has quotes. ${rule}.`,
  tag: 'Customers',
  who: viewer,
  query: Type.Object({
    ...selection,
    cursor: Type.Optional(
      Type.String({
        description: 'next_cursor of the previous page, with the same parameters',
        maxLength: cursorLengthMax,
        'x-expected': 'the next_cursor of the previous page',
      }),
    ),
    limit: Type.Optional(wholeNumber(`Customers per page; default ${pageSizeDefault}`, 1, pageSizeMax)),
  }),
  status: 200,
  answer: Type.Object({
    customers: Type.Array(
      Type.Object({ ...Customer.properties, ...performanceFigures, last_quoted_at: moment }),
    ),
    basis: ComparedBasis,
    customers_total: Type.Integer({ description: 'Number of customers on all pages' }),
    next_cursor: nullable(Type.String()),
  }),
  examples: {
    answer: {
      customers: [{ ...exampleCustomer, ...exampleFigures, last_quoted_at: '2026-02-27T14:00:00.000Z' }],
      basis: exampleBasis,
      customers_total: 1,
      next_cursor: null,
    },
  },
})

export const exportCustomers = endpoint({
  name: 'export-customers',
  method: 'GET',
  path: '/api/customers/export',
  summary: 'Customers as a CSV file',
  description: 'All customers of list-customers, in its order, without a limit.',
  tag: 'Customers',
  who: viewer,
  query: Type.Object(selection),
  status: 200,
  answerKind: 'csv',
  answer: Type.String({
    description: 'A header line, then one line per customer; UTF-8 with a byte order mark',
  }),
  examples: {
    query: { q: 'harvest' },
    answer:
      '\uFEFFCustomer,Other names,Tier,Payment days,Last quoted,Quotes,Won\r\nHarvest Table Foods,"Harvest Table Foods, Inc.",A,30,2026-02-27T14:00:00.000Z,34,17\r\n',
  },
})

export const Decisions = Type.Object({
  decided: Type.Integer(),
  won: Type.Integer(),
  win_rate_pct: nullable(Type.Number()),
})

export const getCustomer = endpoint({
  name: 'get-customer',
  method: 'GET',
  path: '/api/customers/record',
  summary: 'One customer',
  description: `The record of a customer, with its win rate, margin, lanes, months and response time, over all its quotes. ${rule}. For a name that was merged, the customer that it was merged into.`,
  tag: 'Customers',
  who: viewer,
  query: Type.Object({ name: named, rate_type: ofRateType }),
  status: 200,
  answer: Type.Object({
    ...Customer.properties,
    totals: PerformanceTotals,
    last_quoted_at: nullable(moment),
    response: Type.Object(
      {
        quotes: Type.Integer({
          description:
            'Quotes with a decision at least a minute after the quote. Expired quotes do not count',
        }),
        median_hours: nullable(Type.Number()),
        slow_hours: nullable(Type.Number({ description: '90 % of these decisions took at most this long' })),
      },
      { description: 'The time from a quote to its decision' },
    ),
    trend: Type.Object(
      { days: Type.Integer(), recent: Decisions, before: Decisions },
      {
        description:
          'Quotes of the last `days` days with today, and of the `days` days before those. Days begin in the time zone of the brokerage',
      },
    ),
    basis: ComparedBasis,
    months: Type.Array(PerformanceRow, { description: 'By month, newest first' }),
    lanes: Type.Array(PerformanceRow, {
      description: `The lanes of the customer, most quoted first, at most ${customerLanesMax}`,
    }),
    lanes_total: Type.Integer({ description: 'Number of lanes' }),
  }),
  problems: ['not-found'],
  examples: {
    query: { name: 'Harvest Table Foods' },
    answer: {
      ...exampleCustomer,
      totals: exampleFigures,
      last_quoted_at: '2026-02-27T14:00:00.000Z',
      response: { quotes: 26, median_hours: 3.2, slow_hours: 25.5 },
      trend: {
        days: 90,
        recent: { decided: 12, won: 9, win_rate_pct: 75 },
        before: { decided: 14, won: 8, win_rate_pct: 57.1 },
      },
      basis: exampleBasis,
      months: [{ key: '2026-02', label: 'February 2026', lane: null, ...exampleFigures }],
      lanes: [
        {
          key: 'Dallas, TX>Atlanta, GA>V',
          label: 'Dallas, TX to Atlanta, GA, V',
          lane: { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' },
          ...exampleFigures,
        },
      ],
      lanes_total: 1,
    },
  },
})

export const changeCustomer = endpoint({
  name: 'change-customer',
  method: 'PATCH',
  path: '/api/customers/record',
  summary: 'Set the tier and the payment terms of a customer',
  description: `Replaces both values; an absent one is removed. A customer without quotes is accepted: the values apply when quotes with this name arrive. ${rule}.`,
  tag: 'Customers',
  who: admin,
  body: Type.Object({
    name: named,
    tier: Type.Optional(tier),
    payment_days: Type.Optional(paymentDays),
  }),
  status: 200,
  answer: Customer,
  examples: {
    body: { name: 'Harvest Table Foods', tier: 'A', payment_days: 30 },
    answer: exampleCustomer,
  },
})

export const decideCustomers = endpoint({
  name: 'decide-customers',
  method: 'POST',
  path: '/api/customers/decisions',
  summary: 'Merge two customers, keep them apart, or undo either',
  description:
    'Sets whether two names are the same customer. `same` merges `name` into `other`: past and future quotes with this name count for the other customer, with its tier, payment terms and teams. The quotes keep their names, and the merged customer keeps its own tier, terms, teams and merged names, so `open` restores exactly what was before, also after new quotes. `different` undoes a merge, too, and list-customer-variants offers the pair last, also after one of them is merged into a third one. `open` undoes both decisions. Answers with the customer that `name` counts for.',
  tag: 'Customers',
  who: admin,
  body: Type.Object({
    name: named,
    other: text('The name of the other customer'),
    decision: oneOf('Whether the two names are the same customer; open if nobody has decided', [
      'same',
      'different',
      'open',
    ]),
  }),
  status: 200,
  answer: Customer,
  problems: ['not-found'],
  examples: {
    body: { name: 'Harvest Table Foods, Inc.', other: 'Harvest Table Foods', decision: 'same' },
    answer: exampleCustomer,
  },
})

export const renameCustomer = endpoint({
  name: 'rename-customer',
  method: 'POST',
  path: '/api/customers/names',
  summary: 'Rename a customer',
  description:
    'The quotes keep the name that they have, and count for the new name: the old one is merged into it. The tier, the payment terms and the teams stay, and a new name without a fuel schedule gets a copy of that of the old name. If another customer has the new name, with quotes, other names, a tier, terms or teams, this is a merge into that customer, whose settings apply. decide-customers with both names and `open` undoes it. If the new name is an alias of the customer, another rename to the old name undoes it, because separating them would leave two customers. The alias then loses the tier, the terms and the teams that it had before its merge. A new name that differs only in case and spaces replaces the old one.',
  tag: 'Customers',
  who: admin,
  body: Type.Object({ name: named, new_name: text('The new name') }),
  status: 200,
  answer: Customer,
  examples: {
    body: { name: 'Harvest Table Foods, Inc.', new_name: 'Harvest Table Foods' },
    answer: exampleCustomer,
  },
})

export const Spelling = Type.Object({ name: Type.String(), quotes: Type.Integer() })

export const listCustomerVariants = endpoint({
  name: 'list-customer-variants',
  method: 'GET',
  path: '/api/customers/variants',
  summary: 'Customers whose names probably mean the same one',
  description: `Pairs of customers to decide on with decide-customers, at most ${nameVariantsMax}; nothing is merged by itself. The customer with more quotes is first. Pairs that a person decided to be different are last.`,
  tag: 'Customers',
  who: viewer,
  status: 200,
  answer: Type.Object({
    variants: Type.Array(
      Type.Object({
        keep: Spelling,
        merge: Spelling,
        because: Type.Enum(['punctuation', 'spaces', 'typo'], {
          description:
            'How the names differ: in punctuation, accents or the legal form; in spaces; or in one letter',
        }),
        decision: Type.Enum(['open', 'different']),
      }),
    ),
  }),
  examples: {
    answer: {
      variants: [
        {
          keep: { name: 'Harvest Table Foods', quotes: 212 },
          merge: { name: 'Harvest Table Foods, Inc.', quotes: 9 },
          because: 'punctuation',
          decision: 'open',
        },
      ],
    },
  },
})
