import { type AuditGroup, type AuditKind, auditKindsOf } from '#contract/audit-kinds.ts'
import type { Answer } from '../api/index.ts'
import { counted, dollars, methods, moment, percent } from '../shared-ui/index.ts'

export type AuditEvent = Answer<'list-audit-events'>['events'][number]

/** A sentence in pieces: what somebody chose themselves (a name) is set apart from the words around it. */
export type Sentence = readonly { readonly text: string; readonly given: boolean }[]

/** @example said`${'Ana Ortiz'} signed in` // [{ text: 'Ana Ortiz', given: true }, { text: ' signed in', given: false }] */
function said(words: TemplateStringsArray, ...given: readonly string[]): Sentence {
  return words
    .flatMap((text, place) => [
      { text, given: false },
      { text: given[place] ?? '', given: true },
    ])
    .filter(({ text }) => text !== '')
}

const plain = (text: string): Sentence => [{ text, given: false }]

export const groupNames: Readonly<Record<AuditGroup, string>> = {
  refusals: 'Refused',
  'sign-in': 'Signing in',
  people: 'People',
  credentials: 'Tokens and secrets',
  events: 'Events sent out',
  brokerage: 'The brokerage',
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
  'event-endpoint-added': 'Address for events added',
  'event-endpoint-changed': 'Address for events changed',
  'event-endpoint-removed': 'Address for events removed',
  'event-endpoint-disabled': 'Address for events switched off',
  'event-secret-rotated': 'Secret of events rotated',
  'events-replayed': 'Events sent again',
  'settings-changed': 'Settings changed',
  'change-rolled-back': 'Change rolled back',
  'import-undone': 'Import undone',
  'tenant-suspended': 'Brokerage suspended',
  'tenant-resumed': 'Brokerage resumed',
  'tenant-exported': 'Brokerage exported',
  'tenant-imported': 'Brokerage taken over',
  'sign-in-failed': 'Wrong password',
  'sign-in-backed-off': 'Sign-in put off',
  'role-refused': 'Role too low',
  'scope-refused': 'Token without the scope',
  'csrf-refused': 'Request from another site',
  'signature-refused': 'Signature refused',
  'expired-token-used': 'Expired session or token',
  'revoked-token-used': 'Ended session or revoked token',
  'wrong-kind-token-used': 'Wrong kind of token',
  'unknown-token-used': 'Unknown token',
}

const refused: ReadonlySet<string> = new Set(auditKindsOf.refusals)

/** Whether an event is something that was turned away. */
export function isRefusal({ kind }: AuditEvent): boolean {
  return refused.has(kind)
}

/** @example kindName('role-changed') // 'Role changed' */
export function kindName(kind: string): string {
  return Object.hasOwn(kindNames, kind) ? kindNames[kind as AuditKind] : kind
}

type Person = AuditEvent['done_by']

/** Who it was, also where the name is not known. @example personName({ id: 4, name: null }) // 'person 4' */
export function personName(person: NonNullable<Person>): string {
  return person.name ?? `person ${person.id}`
}

const somebody = (person: Person) => (person === null ? 'Somebody' : personName(person))

/** What an event says beside its people. The log may have been written over by hand, so nothing is taken for granted. */
function told(about: AuditEvent['about'], name: string): string {
  const value = about[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'not recorded'
}

const problems: Readonly<Partial<Record<string, string>>> = {
  'signature-missing': 'it was not signed',
  'signature-malformed': 'its signature was not in the right form',
  'signature-mismatch': 'its signature did not match',
  'timestamp-malformed': 'its timestamp was not in the right form',
  'timestamp-out-of-window': 'it was signed more than five minutes ago or ahead',
}

function problemOf({ about }: AuditEvent): string {
  const code = told(about, 'problem')
  return (Object.hasOwn(problems, code) ? problems[code] : undefined) ?? 'its signature was refused'
}

/** What a request came with: a service token by its name, or somebody's session. */
function broughtBy({ token, done_by }: AuditEvent): Sentence {
  if (token !== null) return said`the service token ${token.name ?? `number ${token.id}`}`
  return done_by === null ? plain('a session') : said`a session or token of ${personName(done_by)}`
}

const sentences: Readonly<Record<AuditKind, (event: AuditEvent) => Sentence>> = {
  'signed-up': ({ done_by }) => said`${somebody(done_by)} signed the brokerage up`,
  'signed-in': ({ done_by }) => said`${somebody(done_by)} signed in`,
  'signed-out': ({ done_by, about }) =>
    about.everywhere === true
      ? [...said`${somebody(done_by)} signed out everywhere`, ...tokensTold(about, 'revoked')]
      : said`${somebody(done_by)} signed out`,
  'password-changed': ({ done_by }) => said`${somebody(done_by)} changed their password`,
  'password-reset': ({ done_to, about }) => [
    ...said`The operator of the service set a new password for ${somebody(done_to)}`,
    ...tokensTold(about, 'revoked'),
  ],
  'person-invited': ({ done_by, done_to, about }) =>
    said`${somebody(done_by)} invited ${somebody(done_to)} (${told(about, 'email')}) as ${told(about, 'role')}`,
  'invitation-accepted': ({ done_by }) => said`${somebody(done_by)} accepted the invitation`,
  'role-changed': ({ done_by, done_to, about }) =>
    said`${somebody(done_by)} changed the role of ${somebody(done_to)} from ${told(about, 'from')} to ${told(about, 'to')}`,
  'person-removed': ({ done_by, done_to, about }) => [
    ...said`${somebody(done_by)} removed ${somebody(done_to)}, who was ${told(about, 'role')}`,
    ...tokensTold(about, about.tokens === 'hand-over' ? 'taken over' : 'revoked'),
  ],
  'token-created': ({ done_by, about }) =>
    said`${somebody(done_by)} created the service token ${told(about, 'name')}`,
  'token-revoked': ({ done_by, about }) =>
    said`${somebody(done_by)} revoked the service token ${told(about, 'name')}`,
  'secret-created': ({ done_by, about }) =>
    said`${somebody(done_by)} created the signing secret ${told(about, 'name')}`,
  'secret-rotated': ({ done_by, about }) => [
    ...said`${somebody(done_by)} rotated the signing secret ${told(about, 'name')}`,
    ...(isMoment(about.ends_at) ? said`; the old one ends ${moment(about.ends_at)}` : []),
  ],
  'secret-revoked': ({ done_by, about }) =>
    said`${somebody(done_by)} revoked the signing secret ${told(about, 'name')}`,
  'event-endpoint-added': ({ done_by, about }) =>
    said`${somebody(done_by)} had events sent to ${told(about, 'url')}`,
  'event-endpoint-changed': ({ done_by, about }) =>
    said`${somebody(done_by)} changed the address for events ${told(about, 'url')} (${told(about, 'changed')}), which is ${told(about, 'state')}`,
  'event-endpoint-removed': ({ done_by, about }) =>
    said`${somebody(done_by)} removed the address for events ${told(about, 'url')}`,
  'event-endpoint-disabled': ({ about }) =>
    about.reason === 'gone'
      ? said`The service sends no more events to address ${told(about, 'endpoint_id')}: it answered that it wants none`
      : said`The service sends no more events to address ${told(about, 'endpoint_id')}: it has taken none for three days`,
  'event-secret-rotated': ({ done_by, about }) => [
    ...said`${somebody(done_by)} rotated the secret of the address for events ${told(about, 'url')}`,
    ...(isMoment(about.ends_at) ? said`; the old one ends ${moment(about.ends_at)}` : []),
  ],
  'events-replayed': ({ done_by, about }) =>
    said`${somebody(done_by)} had ${told(about, 'count')} events sent to ${told(about, 'url')} again`,
  'settings-changed': ({ done_by, about }) => [
    ...said`${somebody(done_by)} changed the settings`,
    ...settingsTold(about),
  ],
  'change-rolled-back': ({ done_by, about }) =>
    said`${somebody(done_by)} rolled back change ${told(about, 'change_id')} of the quote ${told(about, 'lane_ref')}`,
  'import-undone': ({ done_by, about }) =>
    said`${somebody(done_by)} undid import ${told(about, 'import_id')}`,
  'tenant-suspended': () => plain('The operator of the service suspended the brokerage'),
  'tenant-resumed': () => plain('The operator of the service let the brokerage go on'),
  'tenant-exported': () => plain('The operator of the service exported all that is kept of the brokerage'),
  'tenant-imported': () =>
    plain('The operator of the service took the brokerage over from another installation'),
  'sign-in-failed': ({ done_by, done_to }) =>
    done_by === null
      ? said`Somebody gave a wrong password for ${somebody(done_to)}`
      : said`${personName(done_by)} gave a wrong present password`,
  'sign-in-backed-off': ({ done_to }) =>
    said`A sign-in as ${somebody(done_to)} was not looked at: too many had failed just before`,
  'role-refused': ({ done_by }) => said`${somebody(done_by)} asked for what their role does not allow`,
  'scope-refused': (event) => [
    ...plain('A write was turned away: the scope is not given to '),
    ...broughtBy(event),
  ],
  'csrf-refused': ({ done_by }) => said`Another site sent a request with the session of ${somebody(done_by)}`,
  'signature-refused': (event) => [
    ...said`A signed write was turned away: `,
    ...plain(problemOf(event)),
    ...plain('. It came with '),
    ...broughtBy(event),
  ],
  'expired-token-used': (event) => [...plain('A request came after the end of '), ...broughtBy(event)],
  'revoked-token-used': (event) => [
    ...plain('A request came with what had been ended or revoked: '),
    ...broughtBy(event),
  ],
  'wrong-kind-token-used': (event) => [
    ...plain('A request came to the wrong interface with '),
    ...broughtBy(event),
  ],
  'unknown-token-used': ({ done_by }) =>
    said`A request came with a token that bears our signature and is not on record, in the name of ${somebody(done_by)}`,
}

/** What happened, in a sentence. @example sentenceOf(event) // Ana Ortiz / changed the role of / Sam Reyes / from ... */
export function sentenceOf(event: AuditEvent): Sentence {
  // A kind that this page does not know: somebody wrote it into the database by hand.
  if (!Object.hasOwn(sentences, event.kind)) return plain(event.kind)
  return sentences[event.kind as AuditKind](event)
}

function isMoment(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}

function tokensTold({ token_ids: ids }: AuditEvent['about'], what: string): Sentence {
  if (!Array.isArray(ids) || ids.length === 0) return []
  return plain(`; ${counted(ids.length, 'service token')} ${ids.length === 1 ? 'was' : 'were'} ${what}`)
}

/** What the settings are called, and how their values read. A setting without an entry is shown as it was recorded. */
const settings: Readonly<Record<string, { name: string; inWords?: (value: number) => string }>> = {
  name: { name: 'name' },
  win_probability_method: { name: 'way to count wins' },
  floor_margin_pct: { name: 'least margin %', inWords: percent },
  floor_margin_cents: { name: 'least margin', inWords: (cents) => dollars(cents / 100) },
  floor_rate_per_mile_cents: { name: 'least rate per mile', inWords: (cents) => dollars(cents / 100) },
}

function settingsTold({ before, after }: AuditEvent['about']): Sentence {
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
      ...said` from ${shown(was.get(setting))} to ${shown(value)}`,
    ]
  })
}

function settingValue(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  const method = methods.find((one) => one.value === value)
  return method?.label ?? (typeof value === 'string' ? value : JSON.stringify(value))
}
