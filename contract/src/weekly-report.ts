import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable } from './fields.ts'
import { LaneKey } from './performance.ts'
import { rateBases } from './rate-basis.ts'

const person = { kind: 'dashboard', role: 'viewer' } as const
const amount = nullable(Type.Number())

export const ReportedWeek = Type.Object({
  quotes: Type.Integer(),
  win_rate_pct: { ...amount, description: 'null if no quote is decided' },
  margin: { ...amount, description: 'AR minus AP of the shipments; null if there are none' },
  margin_pct: amount,
})

const answer = Type.Object({
  mail: Type.Boolean({ description: 'Whether you get the report by mail' }),
  sends: Type.Boolean({ description: 'Whether there is a mail server: without one, no report is mailed' }),
  next_at: {
    ...Type.String({ format: 'date-time' }),
    description: 'When the next report is due: Monday at 07:00 in the time zone of the brokerage',
  },
  first_day: { ...Type.String({ format: 'date' }), description: 'The Monday of the last whole week' },
  last_day: { ...Type.String({ format: 'date' }), description: 'Its Sunday' },
  week: ReportedWeek,
  week_before: ReportedWeek,
  leak: {
    ...nullable(Type.Object({ lane: LaneKey, lost: Type.Number() })),
    description:
      'The lane whose bookings earned the least compared with their quotes, and by how much; null if none earned less',
  },
  lanes: Type.Array(
    Type.Object({
      lane: LaneKey,
      quotes: Type.Integer(),
      margin: Type.Number(),
      margin_before: Type.Number({ description: 'In the week before' }),
    }),
    { description: 'The lanes whose margin moved the most against the week before' },
  ),
  margins: Type.Array(amount, { description: 'The margin of the last eight weeks, the newest last' }),
  amounts: Type.Enum([...rateBases], { description: 'What the amounts include. They are US dollars' }),
})

const lane = { origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' } as const
const examples = {
  answer: {
    mail: true,
    sends: true,
    next_at: '2026-03-16T12:00:00.000Z',
    first_day: '2026-03-02',
    last_day: '2026-03-08',
    week: { quotes: 212, win_rate_pct: 24.8, margin: 14_210.5, margin_pct: 13.4 },
    week_before: { quotes: 198, win_rate_pct: 26.1, margin: 13_004, margin_pct: 13.9 },
    leak: { lane, lost: 820 },
    lanes: [{ lane, quotes: 14, margin: 1_900, margin_before: 2_750 }],
    margins: [12_100, 12_800, 11_950, 13_300, 12_660, 13_120, 13_004, 14_210.5],
    amounts: 'all_in',
  },
} as const

export const getWeeklyReport = endpoint({
  name: 'get-weekly-report',
  method: 'GET',
  path: '/api/weekly-report',
  summary: 'Show the weekly report, as you get it',
  description:
    'The report of the last whole week, with the figures of get-performance for these days, and whether you get it by mail. It counts only the customers that you may see.',
  tag: 'Mail',
  who: person,
  status: 200,
  answer,
  examples,
})

export const chooseWeeklyReport = endpoint({
  name: 'choose-weekly-report',
  method: 'PATCH',
  path: '/api/weekly-report',
  summary: 'Choose whether you get the weekly report by mail',
  description: 'For yourself only. Until you choose, you get it if you are an owner or an admin.',
  tag: 'Mail',
  who: person,
  body: Type.Object({
    mail: Type.Boolean({ description: 'true: mail it to me', 'x-expected': 'true or false' }),
  }),
  status: 200,
  answer,
  examples: { ...examples, body: { mail: true } },
})
