import Type from 'typebox'
import { endpoint } from './endpoint.ts'

export const firstSteps = endpoint({
  name: 'first-steps',
  method: 'GET',
  path: '/api/first-steps',
  summary: 'Setup steps that a new brokerage has completed',
  description: 'One true or false per setup step, for the onboarding page.',
  tag: 'People',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: Type.Object({
    quotes: Type.Boolean({ description: 'A quote was made' }),
    outcomes: Type.Boolean({ description: 'A quote was won or lost' }),
    imports: Type.Boolean({ description: 'Past quotes were imported' }),
    team: Type.Boolean({ description: 'Another person is active or invited' }),
    token: Type.Boolean({ description: 'A service token is live' }),
    secret: Type.Boolean({ description: 'A signing secret is live' }),
    first_read: Type.Boolean({ description: 'A service token was used' }),
    booking: Type.Boolean({ description: 'A signed update was accepted' }),
  }),
  examples: {
    answer: {
      quotes: true,
      outcomes: true,
      imports: false,
      team: false,
      token: true,
      secret: true,
      first_read: true,
      booking: false,
    },
  },
})
