import Type from 'typebox'
import { endpoint, roles } from './endpoint.ts'
import { text } from './fields.ts'
import { assistantIdLengthMax, assistantStateLengthMax, assistantUriLengthMax } from './limits.ts'

/** The addresses of OAuth 2.1 for the programs of assistants. The protocol defines their bodies. */
export const oauthPaths = {
  resource: '/.well-known/oauth-protected-resource',
  server: '/.well-known/oauth-authorization-server',
  register: '/oauth/register',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
} as const

const short = (description: string, max: number) =>
  Type.Optional(
    Type.String({
      description,
      maxLength: max,
      'x-expected': `text of at most ${max.toLocaleString('en-US')} characters`,
    }),
  )

/** The parameters with which the program of an assistant opens the page. */
const asked = {
  client_id: text('The id that the registration gave', assistantIdLengthMax),
  redirect_uri: text('Where the code is sent: an address of the registration', assistantUriLengthMax),
  response_type: text('code', 20),
  code_challenge: text('BASE64URL(SHA256(verifier)), 43 characters', 128),
  code_challenge_method: text('S256', 20),
  scope: short('read', 200),
  resource: short('The address of /mcp', assistantUriLengthMax),
  state: short('Sent back with the code', assistantStateLengthMax),
}

export const checkAssistant = endpoint({
  name: 'check-assistant',
  method: 'POST',
  path: '/api/assistant-requests',
  summary: 'What an assistant asks for',
  description:
    'Checks the parameters with which the program of an assistant opened the consent page, and says what to show. Nothing is stored. A request that is not valid is a 422, and the page sends the browser nowhere.',
  tag: 'Sign-in',
  who: { kind: 'dashboard', role: 'viewer' },
  body: Type.Object(asked),
  status: 200,
  answer: Type.Object({
    client_name: Type.String({ description: 'What the program calls itself. Nobody has verified it' }),
    goes_to: Type.String({ description: 'The host that gets the code; "this computer" for a program on it' }),
    brokerage: Type.String(),
    role: Type.Enum([...roles]),
    hours: Type.Integer({
      description: 'The access ends after so many hours, or earlier with your sessions',
    }),
  }),
  examples: {
    body: {
      client_id: 'lwc_W10.mZrYjW8Yw1oXz0cX7l2yq9tq3nB1dB1mV0r0x5b3K2s',
      redirect_uri: 'http://127.0.0.1:33418/callback',
      response_type: 'code',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    },
    answer: {
      client_name: 'Claude Code',
      goes_to: 'this computer',
      brokerage: 'Meridian Fox Freight',
      role: 'member',
      hours: 12,
    },
  },
})

export const connectAssistant = endpoint({
  name: 'connect-assistant',
  method: 'POST',
  path: '/api/assistants',
  summary: 'Connect an assistant, or refuse it',
  description:
    'The assistant can then read, over /mcp only, what you may see. It is one of your sessions: the list of sessions shows it and ends it, and it ends with your account. If you have a second factor, it must have been given within the last minutes.',
  tag: 'Sign-in',
  who: { kind: 'dashboard', role: 'viewer' },
  body: Type.Object({
    ...asked,
    allow: Type.Boolean({ description: 'Whether you allow it', 'x-expected': 'true or false' }),
  }),
  problems: ['second-factor-again', 'state-conflict'],
  status: 201,
  answer: Type.Object({
    redirect_to: Type.String({
      description: 'Where the page sends the browser, with the code or the refusal',
    }),
  }),
  examples: {
    body: {
      client_id: 'lwc_W10.mZrYjW8Yw1oXz0cX7l2yq9tq3nB1dB1mV0r0x5b3K2s',
      redirect_uri: 'http://127.0.0.1:33418/callback',
      response_type: 'code',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      allow: false,
    },
    answer: { redirect_to: 'http://127.0.0.1:33418/callback?error=access_denied' },
  },
})
