import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { email, label, nullable, oneOf, recordId, text } from './fields.ts'
import {
  companyDomainsMax,
  companyGroupsMax,
  companyReturnLengthMax,
  companySignInMinutes,
} from './limits.ts'
import { exampleSession, Session } from './sign-in.ts'

const admin = { kind: 'dashboard', role: 'admin' } as const
const anyone = { kind: 'anyone' } as const
const moment = Type.String({ format: 'date-time' })

/** The roles that groups of a provider can give. Owners are made in Lanewise only. */
export const companyRoles = ['viewer', 'member', 'admin'] as const
const noRole = 'nobody'

const brokerageId = Type.Integer({
  minimum: 1,
  maximum: 2_147_483_647,
  description: 'The brokerage, from find-company',
  'x-expected': 'the id of a brokerage',
})

export const findCompany = endpoint({
  name: 'find-company',
  method: 'POST',
  path: '/api/auth/company',
  summary: 'Find the company sign-in of an e-mail address',
  description:
    'Returns the brokerages that have proven the domain of the address and have a provider. The answer depends on the domain only, not on whether the address has an account.',
  tag: 'Sign-in',
  who: anyone,
  isRead: true,
  body: Type.Object({ email: email('Your e-mail address') }),
  status: 200,
  answer: Type.Object({
    companies: Type.Array(
      Type.Object({
        brokerage_id: Type.Integer(),
        brokerage: {
          ...nullable(Type.String()),
          description: 'The name, if several brokerages have proven the domain; otherwise null',
        },
        required: Type.Boolean({ description: 'The brokerage refuses passwords' }),
      }),
    ),
  }),
  problems: ['too-many-attempts'],
  examples: {
    body: { email: 'ana@example.com' },
    answer: { companies: [{ brokerage_id: 1204877211, brokerage: null, required: true }] },
  },
})

export const startCompanySignIn = endpoint({
  name: 'start-company-sign-in',
  method: 'POST',
  path: '/api/auth/company/start',
  summary: 'Start to sign in through your company',
  description: `Returns the address of the company's provider, and sets a cookie that ties the sign-in to this browser. It has to come back within ${companySignInMinutes} minutes.`,
  tag: 'Sign-in',
  who: anyone,
  body: Type.Object({ email: email('Your e-mail address'), brokerage_id: brokerageId }),
  status: 200,
  answer: Type.Object({
    address: Type.String({ description: 'Open it in the same browser' }),
    expires_at: moment,
  }),
  setsSession: true,
  problems: ['company-sign-in-failed', 'too-many-attempts'],
  examples: {
    body: { email: 'ana@example.com', brokerage_id: 1204877211 },
    answer: { address: 'https://login.example.com/authorize?...', expires_at: '2026-03-01T14:10:00.000Z' },
  },
})

export const finishCompanySignIn = endpoint({
  name: 'finish-company-sign-in',
  method: 'POST',
  path: '/api/auth/company/finish',
  summary: 'Finish to sign in through your company',
  description:
    'Takes what the provider sent back to the page of the dashboard, checks it, and starts a session. It can be used once, and only with the cookie of the browser that started it.',
  tag: 'Sign-in',
  who: anyone,
  body: Type.Object({
    brokerage_id: brokerageId,
    answer: Type.String({
      maxLength: companyReturnLengthMax,
      writeOnly: true,
      description: 'The query of the address that the provider opened, after the ?',
      'x-expected': 'the query of the address, as it is',
    }),
  }),
  status: 200,
  answer: Session,
  setsSession: true,
  problems: ['company-sign-in-failed', 'too-many-attempts'],
  examples: { body: { brokerage_id: 1204877211, answer: 'code=...&state=...' }, answer: exampleSession },
})

const groupRole = Type.Object({
  group: label('The group, as the provider names it: its name, or for Entra ID its object id'),
  role: oneOf('The role of its people', companyRoles),
  team_id: Type.Optional(recordId),
})

const settings = Type.Object({
  may_set: Type.Boolean({ description: 'Whether the operator has turned company sign-in on' }),
  return_address: Type.String({
    description: 'The address to enter at the provider as redirect or callback address',
  }),
  provider: nullable(
    Type.Object({
      issuer: Type.String(),
      client_id: Type.String(),
      required: Type.Boolean(),
      makes_accounts: Type.Boolean(),
      role_without_group: Type.Enum([noRole, ...companyRoles]),
      groups: Type.Array(
        Type.Object({
          group: Type.String(),
          role: Type.Enum([...companyRoles]),
          team: { ...nullable(Type.Integer()), description: 'The id of a team' },
        }),
      ),
      break_glass: nullable(Type.Object({ user_id: Type.Integer(), name: Type.String() })),
      set_at: moment,
      worked_at: {
        ...nullable(moment),
        description: 'When somebody last signed in through this provider; null: nobody has yet',
      },
    }),
  ),
  domains: Type.Array(
    Type.Object({
      domain: Type.String(),
      record: Type.Object({
        name: Type.String({ description: 'The name of the DNS record of the type TXT' }),
        value: Type.String({ description: 'Its text' }),
      }),
      proven_at: nullable(moment),
      checked_at: nullable(moment),
    }),
  ),
  outside: Type.Array(Type.Object({ user_id: Type.Integer(), name: Type.String(), email: Type.String() }), {
    description:
      'Active people whose address is of no proven domain: they cannot sign in through the company',
  }),
})

const exampleSettings = {
  may_set: true,
  return_address: 'https://lanewise.example.com/sign-in/company/1204877211',
  provider: {
    issuer: 'https://login.example.com',
    client_id: 'lanewise',
    required: false,
    makes_accounts: true,
    role_without_group: noRole,
    groups: [{ group: 'Pricing', role: 'member', team: null }],
    break_glass: { user_id: 1, name: 'Ana Ortiz' },
    set_at: '2026-03-01T14:00:00.000Z',
    worked_at: null,
  },
  domains: [
    {
      domain: 'example.com',
      record: { name: '_lanewise.example.com', value: 'lanewise-domain=3f9...' },
      proven_at: '2026-03-01T14:05:00.000Z',
      checked_at: '2026-03-01T14:05:00.000Z',
    },
  ],
  outside: [],
} as const

export const getCompanySignIn = endpoint({
  name: 'get-company-sign-in',
  method: 'GET',
  path: '/api/company-sign-in',
  summary: 'Show the company sign-in',
  description:
    'The provider, without its secret, the domains with the DNS records that prove them, and who could not sign in through it.',
  tag: 'People',
  who: admin,
  status: 200,
  answer: settings,
  examples: { answer: exampleSettings },
})

export const setCompanySignIn = endpoint({
  name: 'set-company-sign-in',
  method: 'POST',
  path: '/api/company-sign-in',
  summary: 'Set the company sign-in',
  description:
    'Stores the provider, with its secret encrypted, instead of an earlier one. Passwords can be refused (required) once somebody has signed in through this provider, and with an owner who may always use the password; then all other sessions that began with a password end. break_glass_user_id is that owner.',
  tag: 'People',
  who: admin,
  confirms: true,
  body: Type.Object({
    issuer: text('The issuer address of the provider, such as https://login.example.com', 500),
    client_id: text('The client id of Lanewise at the provider', 500),
    client_secret: Type.Optional(
      text('The client secret. It is kept if it is not sent and issuer and client id do not change', 1_000),
    ),
    required: Type.Optional(
      Type.Boolean({ description: 'Refuse passwords; default false', 'x-expected': 'true or false' }),
    ),
    makes_accounts: Type.Optional(
      Type.Boolean({
        description: 'Make an account at the first sign-in; default false: only invited people',
        'x-expected': 'true or false',
      }),
    ),
    role_without_group: Type.Optional(
      oneOf('The role of a person in none of the groups; default nobody: they are refused', [
        noRole,
        ...companyRoles,
      ]),
    ),
    groups: Type.Optional(
      Type.Array(groupRole, {
        maxItems: companyGroupsMax,
        description:
          'What groups mean. A person in several has the highest role, and the teams of all. Without groups, roles are set in Lanewise',
        'x-expected': `a list of at most ${companyGroupsMax} groups`,
      }),
    ),
    break_glass_user_id: Type.Optional(recordId),
  }),
  status: 200,
  answer: settings,
  problems: ['state-conflict'],
  examples: {
    body: {
      issuer: 'https://login.example.com',
      client_id: 'lanewise',
      client_secret: 'example',
      groups: [{ group: 'Pricing', role: 'member' }],
      break_glass_user_id: 1,
    },
    answer: exampleSettings,
  },
})

export const removeCompanySignIn = endpoint({
  name: 'remove-company-sign-in',
  method: 'DELETE',
  path: '/api/company-sign-in',
  summary: 'Remove the company sign-in',
  description:
    'Deletes the provider with its secret. Everybody signs in with the password again; who has none needs one. Domains stay. Without a provider, nothing changes.',
  tag: 'People',
  who: admin,
  confirms: true,
  status: 200,
  answer: settings,
  examples: { answer: { ...exampleSettings, provider: null } },
})

export const checkCompanyProvider = endpoint({
  name: 'check-company-provider',
  method: 'POST',
  path: '/api/company-sign-in/check',
  summary: 'Ask the provider whether it can be used',
  description: "Reads the provider's description of itself and its keys. Changes nothing.",
  tag: 'People',
  who: admin,
  isRead: true,
  body: Type.Object({}),
  status: 200,
  answer: Type.Object({
    problem: { ...nullable(Type.String()), description: 'What is wrong; null: the provider can be used' },
  }),
  problems: ['state-conflict', 'too-many-attempts'],
  examples: { body: {}, answer: { problem: null } },
})

const domain = Type.String({
  maxLength: 253,
  pattern:
    '^(?=.{4,253}$)([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9]$',
  description: 'The part of e-mail addresses after the @',
  'x-expected': 'a domain such as example.com',
})
const domainBody = Type.Object({ domain })

export const addCompanyDomain = endpoint({
  name: 'add-company-domain',
  method: 'POST',
  path: '/api/company-sign-in/domains',
  summary: 'Add a domain',
  description: `Returns the DNS record that proves it. A brokerage has at most ${companyDomainsMax} domains. Adding a domain again changes nothing.`,
  tag: 'People',
  who: admin,
  confirms: true,
  body: domainBody,
  status: 200,
  answer: settings,
  problems: ['state-conflict'],
  examples: { body: { domain: 'example.com' }, answer: exampleSettings },
})

export const checkCompanyDomain = endpoint({
  name: 'check-company-domain',
  method: 'POST',
  path: '/api/company-sign-in/domains/check',
  summary: 'Check the DNS record of a domain',
  description:
    'Looks for the record. If it is there, the domain is proven. If it is gone, the domain is not proven any more. If no name server answers, nothing changes.',
  tag: 'People',
  who: admin,
  confirms: true,
  body: domainBody,
  status: 200,
  answer: Type.Object({
    result: Type.Enum(['proven', 'missing', 'unknown'], {
      description: 'unknown: no name server gave an answer, for example because this service has no network',
    }),
    settings,
  }),
  problems: ['not-found', 'too-many-attempts'],
  examples: {
    body: { domain: 'example.com' },
    answer: { result: 'proven', settings: exampleSettings },
  },
})

export const removeCompanyDomain = endpoint({
  name: 'remove-company-domain',
  method: 'POST',
  path: '/api/company-sign-in/domains/remove',
  summary: 'Remove a domain',
  description: 'Nobody signs in through the company with an address of this domain any more.',
  tag: 'People',
  who: admin,
  confirms: true,
  body: domainBody,
  status: 200,
  answer: settings,
  problems: ['not-found', 'state-conflict'],
  examples: { body: { domain: 'example.com' }, answer: { ...exampleSettings, domains: [] } },
})
