import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { isDisplayText, label, printable, wholeNumber } from './fields.ts'
import {
  listColumnsMax,
  pendingDaysDefault,
  pendingDaysMax,
  quoteListBytesMax,
  quoteViewsMax,
  quoteViewTextMax,
} from './limits.ts'
import { builtInViews } from './quote-views.ts'

const columns = Type.Array(label('Name of a column'), {
  maxItems: listColumnsMax,
  description: "Columns of the list. An empty list means the page's usual columns",
  'x-expected': `a list of at most ${listColumnsMax} names of columns`,
})

const version = wholeNumber(
  'Number of the last change of the settings, 0 before the first one',
  0,
  2_147_483_647,
)
const pendingDays = wholeNumber(
  'Days after which a pending quote is in the view Pending too long',
  1,
  pendingDaysMax,
)
const defaultView = label('Name of the view that the page opens with')
export const QuoteView = Type.Object({
  name: label('Name of the view, unique in any case'),
  query: Type.Refine(
    Type.String({
      description:
        "Filters and order, as the query string of the page's address. Empty for a view of all quotes",
      maxLength: quoteViewTextMax,
      pattern: printable,
      examples: ['outcome=pending&sort=oldest'],
      'x-expected': `text of at most ${quoteViewTextMax} characters without control characters`,
    }),
    (value) => isDisplayText(value),
    () => 'text',
  ),
  columns,
})
export type QuoteView = Type.Static<typeof QuoteView>
const views = Type.Array(QuoteView, {
  maxItems: quoteViewsMax,
  'x-expected': `a list of at most ${quoteViewsMax} views`,
})

export const QuoteListSettings = Type.Object({
  version,
  pending_days: pendingDays,
  default_view: defaultView,
  columns,
  views,
})
export type QuoteListSettings = Type.Static<typeof QuoteListSettings>

/** The settings of a person who never changed them. */
export const usualQuoteListSettings: QuoteListSettings = {
  version: 0,
  pending_days: pendingDaysDefault,
  default_view: builtInViews[0],
  columns: [],
  views: [],
}

const example = {
  version: 3,
  pending_days: pendingDaysDefault,
  default_view: 'My quotes',
  columns: [],
  views: [
    { name: 'Lost on price', query: 'outcome=lost&reason=price', columns: ['customer', 'quoted_rate'] },
  ],
}

export const getQuoteListSettings = endpoint({
  name: 'get-quote-list-settings',
  method: 'GET',
  path: '/api/quote-list-settings',
  summary: 'Your saved views and columns of the list of quotes',
  description: 'The settings belong to the signed-in person. No other person sees them.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: QuoteListSettings,
  examples: { answer: example },
})

export const changeQuoteListSettings = endpoint({
  name: 'change-quote-list-settings',
  method: 'PATCH',
  path: '/api/quote-list-settings',
  summary: 'Change your saved views and columns of the list of quotes',
  description:
    'Changes the given members. version is the one that you read: if the settings changed since then, the response is 409 and nothing changes. Filters are saved as sent. A filter that is not valid is reported when the view is opened.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  bodyBytesMax: quoteListBytesMax,
  body: Type.Object({
    version,
    pending_days: Type.Optional(pendingDays),
    default_view: Type.Optional(defaultView),
    columns: Type.Optional(columns),
    views: Type.Optional(views),
  }),
  status: 200,
  answer: QuoteListSettings,
  problems: ['state-conflict'],
  examples: { body: { version: 2, default_view: 'My quotes' }, answer: example },
})
