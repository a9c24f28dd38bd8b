import { type AuditGroup, type AuditKind, auditKindsOf } from '#contract/audit-kinds.ts'
import type { Answer } from '../api/index.ts'
import { counted, dollars, methods, moment, percent } from '../shared-ui/index.ts'

export type AuditEvent = Answer<'list-audit-events'>['events'][number]

/** A sentence in parts. User-supplied parts, such as names, are marked as `given` to set them apart visually. */
export type Sentence = readonly { readonly text: string; readonly given: boolean }[]

/** @example words`${'Ana Ortiz'} signed in` // [{ text: 'Ana Ortiz', given: true }, { text: ' signed in', given: false }] */
function words(texts: TemplateStringsArray, ...given: readonly string[]): Sentence {
  return texts
    .flatMap((text, place) => [
      { text, given: false },
      { text: given[place] ?? '', given: true },
    ])
    .filter(({ text }) => text !== '')
}

const plain = (text: string): Sentence => [{ text, given: false }]

export const groupNames: Readonly<Record<AuditGroup, string>> = {
  refusals: 'Rejected requests',
  'sign-in': 'Sign-in',
  people: 'People',
  credentials: 'Tokens and secrets',
  events: 'Event endpoints',
  brokerage: 'Brokerage',
}

export const kindNames: Readonly<Record<AuditKind, string>> = {
  'signed-up': 'Signed up',
  'signed-in': 'Signed in',
  'signed-out': 'Signed out',
  'password-changed': 'Password changed',
  'password-reset': 'Password reset by the operator',
  'person-invited': 'Person invited',
  'invitation-accepted': 'Invitation accepted',
  'role-changed': 'Role changed',
  'person-removed': 'Person removed',
  'token-created': 'Service token created',
  'token-revoked': 'Service token revoked',
  'secret-created': 'Signing secret created',
  'secret-rotated': 'Signing secret rotated',
  'secret-revoked': 'Signing secret revoked',
  'secrets-lost': 'Secrets lost with their key',
  'event-endpoint-added': 'Event endpoint added',
  'event-endpoint-changed': 'Event endpoint changed',
  'event-endpoint-removed': 'Event endpoint removed',
  'event-endpoint-disabled': 'Event endpoint turned off',
  'event-secret-rotated': 'Event secret rotated',
  'events-replayed': 'Events sent again',
  'settings-changed': 'Settings changed',
  'change-rolled-back': 'Change rolled back',
  'data-exported': 'Data exported',
  'import-started': 'Import started',
  'import-undone': 'Import undone',
  'market-file-loaded': 'Market rates loaded',
  'approval-requested': 'Approval requested',
  'approval-decided': 'Approval decided',
  'pricing-rule-added': 'Pricing rule added',
  'pricing-rule-changed': 'Pricing rule changed',
  'pricing-rule-removed': 'Pricing rule removed',
  'team-changed': 'Team changed',
  'team-removed': 'Team removed',
  'customer-changed': 'Customer changed',
  'customers-decided': 'Customers compared',
  'customer-merged': 'Customer merged',
  'customer-unmerged': 'Customer unmerged',
  'customer-renamed': 'Customer renamed',
  'customer-variant-dismissed': 'Customers marked as different',
  'customer-variant-offered': 'Customers offered for merging',
  'market-source-erased': 'Market rates erased',
  'market-key-set': 'Market key set',
  'market-key-removed': 'Market key removed',
  'tenant-suspended': 'Brokerage suspended',
  'tenant-resumed': 'Brokerage resumed',
  'tenant-exported': 'Brokerage exported',
  'tenant-imported': 'Brokerage imported',
  'sandbox-created': 'Test brokerage created',
  'sandbox-entered': 'Test brokerage entered',
  'sandbox-reset': 'Test brokerage reset',
  'pilot-started': 'Pilot switched on',
  'pilot-stopped': 'Pilot switched off',
  'experiment-started': 'Experiment started',
  'experiment-ended': 'Experiment ended',
  'sign-in-failed': 'Wrong password',
  'sign-in-backed-off': 'Sign-in delayed',
  'role-refused': 'Role too low',
  'scope-refused': 'Missing permission',
  'csrf-refused': 'Request from another site',
  'signature-refused': 'Signature rejected',
  'expired-token-used': 'Expired session or token used',
  'revoked-token-used': 'Ended session or revoked token used',
  'wrong-kind-token-used': 'Wrong kind of token used',
  'unknown-token-used': 'Unknown token used',
}

/** The conditions of an audited pricing rule, in words. */
function ruleOf(about: AuditEvent['about'], when: 'before' | 'after'): string {
  const rule = about[when]
  return typeof rule === 'object' && rule !== null && 'because' in rule && typeof rule.because === 'string'
    ? rule.because
    : 'unknown conditions'
}

const refused: ReadonlySet<string> = new Set(auditKindsOf.refusals)

/** True for events about rejected requests. */
export function isRefusal({ kind }: AuditEvent): boolean {
  return refused.has(kind)
}

/** @example kindName('role-changed') // 'Role changed' */
export function kindName(kind: string): string {
  return Object.hasOwn(kindNames, kind) ? kindNames[kind as AuditKind] : kind
}

type Person = AuditEvent['done_by']

/** A person's name, or the ID if the name is unknown. @example personName({ id: 4, name: null }) // 'person 4' */
export function personName(person: NonNullable<Person>): string {
  return person.name ?? `person ${person.id}`
}

const someone = (person: Person) => (person === null ? 'Someone' : personName(person))

/** A value of an event's data. Handles missing and wrong types, because rows can be edited in the database. */
function dataOf(about: AuditEvent['about'], name: string): string {
  const value = about[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'not recorded'
}

/** What was exported, from the name of the operation. @example exportName({ export: 'export-market-standing' }) // 'market standing' */
function exportName(about: AuditEvent['about']): string {
  return dataOf(about, 'export')
    .replace(/^export-/, '')
    .replaceAll('-', ' ')
}

const problems: Readonly<Partial<Record<string, string>>> = {
  'signature-missing': 'it was not signed',
  'signature-malformed': 'its signature was malformed',
  'signature-mismatch': 'its signature did not match',
  'timestamp-malformed': 'its timestamp was malformed',
  'timestamp-out-of-window': 'its timestamp was more than five minutes off',
}

function problemOf({ about }: AuditEvent): string {
  const code = dataOf(about, 'problem')
  return (Object.hasOwn(problems, code) ? problems[code] : undefined) ?? 'its signature was rejected'
}

/** The credential of a request: a service token by name, or a person's session. */
function credentialOf({ token, done_by }: AuditEvent): Sentence {
  if (token !== null) return words`the service token ${token.name ?? `ID ${token.id}`}`
  return done_by === null ? plain('a session') : words`a session or token of ${personName(done_by)}`
}

const sentences: Readonly<Record<AuditKind, (event: AuditEvent) => Sentence>> = {
  'signed-up': ({ done_by }) => words`${someone(done_by)} signed up the brokerage`,
  'signed-in': ({ done_by }) => words`${someone(done_by)} signed in`,
  'signed-out': ({ done_by, about }) =>
    about.everywhere === true
      ? [...words`${someone(done_by)} signed out everywhere`, ...tokenWords(about, 'revoked')]
      : words`${someone(done_by)} signed out`,
  'password-changed': ({ done_by }) => words`${someone(done_by)} changed their password`,
  'password-reset': ({ done_to, about }) => [
    ...words`The operator of the service set a new password for ${someone(done_to)}`,
    ...tokenWords(about, 'revoked'),
  ],
  'person-invited': ({ done_by, done_to, about }) =>
    words`${someone(done_by)} invited ${someone(done_to)} (${dataOf(about, 'email')}) as ${dataOf(about, 'role')}`,
  'invitation-accepted': ({ done_by }) => words`${someone(done_by)} accepted the invitation`,
  'role-changed': ({ done_by, done_to, about }) =>
    words`${someone(done_by)} changed the role of ${someone(done_to)} from ${dataOf(about, 'from')} to ${dataOf(about, 'to')}`,
  'person-removed': ({ done_by, done_to, about }) => [
    ...words`${someone(done_by)} removed ${someone(done_to)}, who was ${dataOf(about, 'role')}`,
    ...tokenWords(about, about.tokens === 'hand-over' ? 'transferred' : 'revoked'),
  ],
  'token-created': ({ done_by, about }) =>
    words`${someone(done_by)} created the service token ${dataOf(about, 'name')}${typeof about.scope === 'string' ? ` (${about.scope})` : ''}`,
  'token-revoked': ({ done_by, about }) =>
    words`${someone(done_by)} revoked the service token ${dataOf(about, 'name')}`,
  'secret-created': ({ done_by, about }) =>
    words`${someone(done_by)} created the signing secret ${dataOf(about, 'name')}`,
  'secret-rotated': ({ done_by, about }) => [
    ...words`${someone(done_by)} rotated the signing secret ${dataOf(about, 'name')}`,
    ...(isMoment(about.ends_at) ? words`; the old one ends ${moment(about.ends_at)}` : []),
  ],
  'secret-revoked': ({ done_by, about }) =>
    words`${someone(done_by)} revoked the signing secret ${dataOf(about, 'name')}`,
  'secrets-lost': ({ about }) =>
    plain(
      `The operator of the service lost the key of the secrets, and removed ${counted(countOf(about.secret_ids), 'signing secret')} and the secrets of ${counted(countOf(about.endpoint_ids), 'event endpoint')}: create new ones`,
    ),
  'event-endpoint-added': ({ done_by, about }) =>
    words`${someone(done_by)} added the event endpoint ${dataOf(about, 'url')}`,
  'event-endpoint-changed': ({ done_by, about }) =>
    words`${someone(done_by)} changed the event endpoint ${dataOf(about, 'url')} (${dataOf(about, 'changed')}), now ${dataOf(about, 'state')}`,
  'event-endpoint-removed': ({ done_by, about }) =>
    words`${someone(done_by)} removed the event endpoint ${dataOf(about, 'url')}`,
  'event-endpoint-disabled': ({ about }) =>
    about.reason === 'gone'
      ? words`The service turned off event endpoint ${dataOf(about, 'endpoint_id')}, which responded with 410 Gone`
      : words`The service turned off event endpoint ${dataOf(about, 'endpoint_id')} after three days of failed deliveries`,
  'event-secret-rotated': ({ done_by, about }) => [
    ...words`${someone(done_by)} rotated the secret of the event endpoint ${dataOf(about, 'url')}`,
    ...(isMoment(about.ends_at) ? words`; the old one ends ${moment(about.ends_at)}` : []),
  ],
  'events-replayed': ({ done_by, about }) =>
    words`${someone(done_by)} resent ${dataOf(about, 'count')} events to ${dataOf(about, 'url')}`,
  'settings-changed': ({ done_by, about }) => [
    ...words`${someone(done_by)} changed the settings`,
    ...settingWords(about),
  ],
  'change-rolled-back': ({ done_by, about }) =>
    words`${someone(done_by)} rolled back change ${dataOf(about, 'change_id')} of the quote ${dataOf(about, 'lane_ref')}`,
  'data-exported': ({ done_by, about }) => [
    ...words`${someone(done_by)} exported ${exportName(about)}`,
    ...('filter' in about ? words` with the filter ${dataOf(about, 'filter')}` : []),
  ],
  'import-started': ({ done_by, about }) =>
    done_by === null
      ? words`The operator of the service started import ${dataOf(about, 'import_id')} of the file ${dataOf(about, 'file')}`
      : words`${someone(done_by)} started import ${dataOf(about, 'import_id')} of the file ${dataOf(about, 'file')}`,
  'market-file-loaded': ({ done_by, about }) =>
    about.by_hand === true
      ? words`${someone(done_by)} entered ${dataOf(about, 'rates')} market rates`
      : words`${someone(done_by)} loaded a file of ${dataOf(about, 'rates')} market rates`,
  'import-undone': ({ done_by, about }) =>
    words`${someone(done_by)} undid import ${dataOf(about, 'import_id')}`,
  'approval-requested': ({ done_by, about }) =>
    words`${someone(done_by)} asked for approval ${dataOf(about, 'approval_id')} of a quote for ${dataOf(about, 'customer_name')}`,
  'approval-decided': ({ done_by, about }) =>
    words`${someone(done_by)} decided approval ${dataOf(about, 'approval_id')}: ${dataOf(about, 'decision')}`,
  'pricing-rule-added': ({ done_by, about }) =>
    words`${someone(done_by)} added the pricing rule for ${ruleOf(about, 'after')}`,
  'pricing-rule-changed': ({ done_by, about }) =>
    words`${someone(done_by)} changed the pricing rule for ${ruleOf(about, 'after')}`,
  'pricing-rule-removed': ({ done_by, about }) =>
    words`${someone(done_by)} removed the pricing rule for ${ruleOf(about, 'before')}`,
  'team-changed': ({ done_by, about }) => [
    ...words`${someone(done_by)} changed the team ${dataOf(about, 'team')}`,
    ...settingWords(about),
  ],
  'team-removed': ({ done_by, about }) =>
    words`${someone(done_by)} removed the team ${dataOf(about, 'team')}, which had ${dataOf(about, 'customers')}`,
  'customer-changed': ({ done_by, about }) => [
    ...words`${someone(done_by)} changed the customer ${dataOf(about, 'customer')}`,
    ...settingWords(about),
  ],
  'customers-decided': ({ done_by, about }) =>
    about.decision === 'same'
      ? words`${someone(done_by)} merged the customer ${dataOf(about, 'customer')} into ${dataOf(about, 'other')}`
      : about.decision === 'different'
        ? words`${someone(done_by)} said that ${dataOf(about, 'customer')} and ${dataOf(about, 'other')} are different customers`
        : words`${someone(done_by)} undid the decision on the customers ${dataOf(about, 'customer')} and ${dataOf(about, 'other')}`,
  'customer-merged': ({ done_by, about }) =>
    words`${someone(done_by)} merged the customer ${dataOf(about, 'customer')} into ${dataOf(about, 'into')}`,
  'customer-unmerged': ({ done_by, about }) =>
    words`${someone(done_by)} undid the merge of the customer ${dataOf(about, 'customer')} into ${dataOf(about, 'from')}`,
  'customer-renamed': ({ done_by, about }) =>
    words`${someone(done_by)} renamed the customer ${dataOf(about, 'customer')} to ${dataOf(about, 'to')}`,
  'customer-variant-dismissed': ({ done_by, about }) =>
    words`${someone(done_by)} said that ${dataOf(about, 'customer')} and ${dataOf(about, 'other')} are different customers`,
  'customer-variant-offered': ({ done_by, about }) =>
    words`${someone(done_by)} had ${dataOf(about, 'customer')} and ${dataOf(about, 'other')} offered for merging again`,
  'market-source-erased': ({ done_by, about }) =>
    words`${someone(done_by)} erased ${dataOf(about, 'rates')} market rates of ${dataOf(about, 'source')}`,
  'market-key-set': ({ done_by, about }) =>
    words`${someone(done_by)} set the key for the market rates of ${dataOf(about, 'source')}`,
  'market-key-removed': ({ done_by, about }) =>
    words`${someone(done_by)} removed the key for the market rates of ${dataOf(about, 'source')}`,
  'tenant-suspended': () => plain('The operator of the service suspended the brokerage'),
  'tenant-resumed': () => plain('The operator of the service resumed the brokerage'),
  'tenant-exported': () => plain('The operator of the service exported all data of the brokerage'),
  'tenant-imported': () =>
    plain('The operator of the service imported the brokerage from another installation'),
  'sandbox-created': ({ done_by }) => words`${someone(done_by)} created the test brokerage`,
  'sandbox-entered': ({ done_by }) => words`${someone(done_by)} signed in to the test brokerage`,
  'sandbox-reset': ({ done_by }) => words`${someone(done_by)} reset the test brokerage`,
  'pilot-started': ({ done_by }) => words`${someone(done_by)} switched the pilot on`,
  'pilot-stopped': ({ done_by }) => words`${someone(done_by)} switched the pilot off`,
  'experiment-started': ({ done_by }) =>
    words`${someone(done_by)} started an experiment with suggested rates`,
  'experiment-ended': ({ done_by }) => words`${someone(done_by)} ended the experiment with suggested rates`,
  'sign-in-failed': ({ done_by, done_to }) =>
    done_by === null
      ? words`Someone entered a wrong password for ${someone(done_to)}`
      : words`${personName(done_by)} entered a wrong current password`,
  'sign-in-backed-off': ({ done_to }) =>
    words`A sign-in as ${someone(done_to)} was rejected because too many sign-ins had failed`,
  'role-refused': ({ done_by }) =>
    words`${someone(done_by)} requested an action that their role does not allow`,
  'scope-refused': (event) => [
    ...plain('A call was rejected because the token lacks the permission. Credential: '),
    ...credentialOf(event),
  ],
  'csrf-refused': ({ done_by }) => words`Another site sent a request with the session of ${someone(done_by)}`,
  'signature-refused': (event) => [
    ...words`A signed write was rejected: `,
    ...plain(problemOf(event)),
    ...plain('. Credential: '),
    ...credentialOf(event),
  ],
  'expired-token-used': (event) => [
    ...plain('A request used an expired credential: '),
    ...credentialOf(event),
  ],
  'revoked-token-used': (event) => [
    ...plain('A request used an ended or revoked credential: '),
    ...credentialOf(event),
  ],
  'wrong-kind-token-used': (event) => [
    ...plain('A request used the wrong kind of credential: '),
    ...credentialOf(event),
  ],
  'unknown-token-used': ({ done_by }) =>
    words`A request used a token with a valid signature that is not on record, in the name of ${someone(done_by)}`,
}

/** An event as a sentence. @example sentenceOf(event) // Ana Ortiz / changed the role of / Sam Reyes / from ... */
export function sentenceOf(event: AuditEvent): Sentence {
  // An unknown kind, for example a row that was edited in the database.
  if (!Object.hasOwn(sentences, event.kind)) return plain(event.kind)
  return sentences[event.kind as AuditKind](event)
}

function isMoment(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}

const countOf = (ids: unknown) => (Array.isArray(ids) ? ids.length : 0)

function tokenWords({ token_ids: ids }: AuditEvent['about'], what: string): Sentence {
  if (!Array.isArray(ids) || ids.length === 0) return []
  return plain(`; ${counted(ids.length, 'service token')} ${ids.length === 1 ? 'was' : 'were'} ${what}`)
}

/** The names and value formats of settings. Other settings are shown as recorded. */
const settings: Readonly<Record<string, { name: string; inWords?: (value: number) => string }>> = {
  name: { name: 'name' },
  win_probability_method: { name: 'win probability method' },
  time_zone: { name: 'time zone' },
  date_order: { name: 'order of day and month' },
  default_basis: { name: 'default basis' },
  default_rate_type: { name: 'default rate type' },
  integration_pool: { name: 'quotes that the integration interface counts' },
  quote_valid_days: { name: 'days of validity of quotes' },
  expired_counts_as_lost: { name: 'expired quotes count as lost' },
  market_calls_per_day: { name: 'calls to providers of market rates per day' },
  name_of_person: { name: 'name of a person' },
  floor_margin_pct: { name: 'minimum margin %', inWords: percent },
  floor_margin_cents: { name: 'minimum margin', inWords: (cents) => dollars(cents / 100) },
  tier: { name: 'tier' },
  payment_days: { name: 'payment terms', inWords: (days) => `${days} days` },
  fuel_schedule: { name: 'fuel surcharge schedule' },
  diesel_prices: { name: 'diesel prices' },
  floor_rate_per_mile_cents: { name: 'minimum rate per mile', inWords: (cents) => dollars(cents / 100) },
}

function settingWords({ before, after }: AuditEvent['about']): Sentence {
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return []
  const was = new Map<string, unknown>(Object.entries(before))
  return Object.entries(after).flatMap(([setting, value], place) => {
    const { name, inWords } = (Object.hasOwn(settings, setting) ? settings[setting] : undefined) ?? {
      name: setting,
    }
    const shown = (one: unknown) =>
      typeof one === 'number' && inWords !== undefined ? inWords(one) : settingValue(one)
    return [
      ...plain(`${place === 0 ? ': ' : '; '}${name}`),
      ...words` from ${shown(was.get(setting))} to ${shown(value)}`,
    ]
  })
}

function settingValue(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  const method = methods.find((one) => one.value === value)
  return method?.label ?? (typeof value === 'string' ? value : JSON.stringify(value))
}
