import SCIMMY from 'scimmy'
import { scimOperationsMax, scimPageMax } from '#contract/limits.ts'
import { type ScimType, scimErrorSchema } from '#contract/scim.ts'

/** A SCIM request that is refused. Nothing was changed. */
export class ScimRefusal extends Error {
  readonly status: 400 | 404 | 409
  readonly scimType: ScimType | null

  constructor(status: 400 | 404 | 409, scimType: ScimType | null, detail: string) {
    super(detail)
    this.name = 'ScimRefusal'
    this.status = status
    this.scimType = scimType
  }
}

/** The body of a refusal (RFC 7644 section 3.12). */
export function scimError(status: number, scimType: ScimType | null, detail: string) {
  return {
    schemas: [scimErrorSchema],
    status: String(status),
    ...(scimType === null ? {} : { scimType }),
    detail,
  }
}

export type ScimObject = Record<string, unknown>

const types = { User: SCIMMY.Schemas.User, Group: SCIMMY.Schemas.Group } as const
export type ScimKind = keyof typeof types

/** The attributes of a kind that Lanewise keeps. Others of the standard are accepted and not kept, because directories send them by default. */
const kept: Readonly<Record<ScimKind, ReadonlySet<string>>> = {
  User: new Set(['username', 'name', 'displayname', 'active', 'externalid']),
  Group: new Set(['displayname', 'externalid', 'members']),
}

const standard: Readonly<Record<ScimKind, ReadonlySet<string>>> = {
  User: new Set([
    ...[
      'username',
      'name',
      'displayname',
      'active',
      'externalid',
      'id',
      'meta',
      'schemas',
      'emails',
      'nickname',
    ],
    ...[
      'profileurl',
      'title',
      'usertype',
      'preferredlanguage',
      'locale',
      'timezone',
      'password',
      'phonenumbers',
    ],
    ...['ims', 'photos', 'addresses', 'groups', 'entitlements', 'roles', 'x509certificates'],
  ]),
  Group: new Set(['displayname', 'externalid', 'members', 'id', 'meta', 'schemas']),
}

/** The first name of a path, in lower case. @example rootOf('emails[type eq "work"].value') // 'emails' */
function rootOf(path: string): string {
  const local = path.replace(/^urn:ietf:params:scim:schemas:core:2\.0:(User|Group):/i, '')
  return /^urn:/i.test(local) ? 'urn' : (/^[^.[\s]*/.exec(local)?.[0] ?? '').toLowerCase()
}

/** Runs the library, whose errors of values have no status. */
function reading<T>(scimType: ScimType, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw refusalOf(error, scimType)
  }
}

function refusalOf(error: unknown, scimType: ScimType): ScimRefusal {
  if (error instanceof ScimRefusal) return error
  const known = error as { status?: unknown; scimType?: unknown; message?: unknown }
  const detail =
    typeof known.message === 'string' ? known.message.slice(0, 500) : 'The request cannot be read.'
  const isOfLibrary = typeof known.scimType === 'string' && known.scimType !== ''
  return new ScimRefusal(
    400,
    isOfLibrary ? (known.scimType as ScimType) : scimType,
    `${detail}.`.replace(/\.\.$/, '.'),
  )
}

const isObject = (value: unknown): value is ScimObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Entra ID sends "True" and "False" as text, unless its flag for it is set. */
function truth(value: unknown): unknown {
  return typeof value === 'string' && /^(true|false)$/i.test(value) ? value.toLowerCase() === 'true' : value
}

/** A resource with the attributes that Lanewise keeps only, and with truth values as such. */
function keptOf(kind: ScimKind, sent: ScimObject): ScimObject {
  return Object.fromEntries(
    Object.entries(sent).flatMap(([name, value]) => {
      const root = rootOf(name)
      if (!kept[kind].has(root)) return []
      return [[name, root === 'active' ? truth(value) : value]]
    }),
  )
}

/** Reads a whole resource, as POST and PUT send it. @throws ScimRefusal */
export function readResource(kind: ScimKind, sent: unknown): ScimObject {
  if (!isObject(sent)) throw new ScimRefusal(400, 'invalidSyntax', 'The body must be a JSON object.')
  const { schemas } = sent
  const core = types[kind].definition.id
  if (!Array.isArray(schemas) || !schemas.includes(core)) {
    throw new ScimRefusal(400, 'invalidSyntax', `schemas must be a list with ${core}.`)
  }
  const { members, ...rest } = keptOf(kind, sent)
  const read = reading('invalidValue', () => new types[kind]({ schemas: [core], ...rest }, 'in'))
  const plain = JSON.parse(JSON.stringify(read)) as ScimObject
  return members === undefined ? plain : { ...plain, members: membersOf(members) }
}

/** The ids in a list of members, or in one member. @throws ScimRefusal */
function membersOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value]
  return list.map((member, index) => {
    const id = isObject(member) ? member.value : member
    if (typeof id === 'string' && id.length <= 40) return id
    throw new ScimRefusal(
      400,
      'invalidValue',
      `members: item ${index} must be an object with value, the id of a person.`,
    )
  })
}

interface Operation {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: string | null
  readonly value: unknown
}

function operationsOf(sent: unknown): Operation[] {
  const schema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
  const list =
    isObject(sent) && Array.isArray(sent.schemas) && sent.schemas.includes(schema) ? sent.Operations : null
  if (!Array.isArray(list) || list.length === 0) {
    throw new ScimRefusal(
      400,
      'invalidSyntax',
      `Send schemas with ${schema}, and Operations with at least one operation.`,
    )
  }
  if (list.length > scimOperationsMax) {
    throw new ScimRefusal(
      400,
      'tooMany',
      `Operations must have at most ${scimOperationsMax} operations; it has ${list.length}.`,
    )
  }
  return list.map((one, index) => {
    const { op, path = null, value } = isObject(one) ? one : {}
    const name = typeof op === 'string' ? op.toLowerCase() : ''
    if (name !== 'add' && name !== 'remove' && name !== 'replace') {
      throw new ScimRefusal(
        400,
        'invalidSyntax',
        `Operations: op of item ${index} must be add, remove or replace.`,
      )
    }
    if (path !== null && typeof path !== 'string') {
      throw new ScimRefusal(400, 'invalidPath', `Operations: path of item ${index} must be text.`)
    }
    return { op: name, path, value }
  })
}

/** The result of a PATCH on a resource, which is not changed itself. Members are ids. @throws ScimRefusal */
export async function patched(kind: ScimKind, before: ScimObject, sent: unknown): Promise<ScimObject> {
  const { members, ...rest } = before
  const ids = new Set(members as string[] | undefined)
  const operations: { op: string; path?: string; value?: unknown }[] = []
  for (const one of operationsOf(sent)) {
    for (const { op, path, value } of withPaths(kind, one)) {
      const root = rootOf(path)
      if (root !== 'urn' && !standard[kind].has(root)) {
        throw new ScimRefusal(400, 'invalidPath', `There is no attribute ${path.slice(0, 100)} of a ${kind}.`)
      }
      if (kind === 'Group' && root === 'members') changeMembers(ids, { op, path, value })
      else if (kept[kind].has(root)) {
        operations.push({
          op,
          path,
          ...(op === 'remove' ? {} : { value: root === 'active' ? truth(value) : value }),
        })
      }
    }
  }
  const after = await applied(kind, rest, operations)
  return kind === 'Group' ? { ...after, members: [...ids] } : after
}

/** An operation without a path names attributes in its value. */
function withPaths(
  kind: ScimKind,
  { op, path, value }: Operation,
): { op: Operation['op']; path: string; value: unknown }[] {
  if (path !== null) return [{ op, path, value }]
  if (op === 'remove') throw new ScimRefusal(400, 'noTarget', 'Operations: a remove needs a path.')
  if (!isObject(value))
    throw new ScimRefusal(
      400,
      'invalidValue',
      `Operations: without a path, value must be an object of attributes of a ${kind}.`,
    )
  return Object.entries(value).map(([name, one]) => ({ op, path: name, value: one }))
}

/** Members are changed as a set: the library takes a second for a thousand of them. */
function changeMembers(
  ids: Set<string>,
  { op, path, value }: { op: Operation['op']; path: string; value: unknown },
): void {
  const one = /^members\s*\[\s*value\s+eq\s+"([^"]*)"\s*\]$/i.exec(path)?.[1]
  if (one === undefined && !/(^|:)members$/i.test(path)) {
    throw new ScimRefusal(
      400,
      'invalidPath',
      'The path of members must be members, or members[value eq "the id of a person"].',
    )
  }
  if (one !== undefined) {
    if (op !== 'remove')
      throw new ScimRefusal(400, 'invalidPath', 'A member with a filter can be removed only.')
    ids.delete(one)
    return
  }
  if (op === 'replace' || (op === 'remove' && value === undefined)) ids.clear()
  for (const id of value === undefined && op === 'remove' ? [] : membersOf(value)) {
    if (op === 'remove') ids.delete(id)
    else ids.add(id)
  }
}

async function applied(
  kind: ScimKind,
  before: ScimObject,
  operations: readonly object[],
): Promise<ScimObject> {
  if (operations.length === 0) return before
  try {
    const patch = new SCIMMY.Messages.PatchOp({
      schemas: [SCIMMY.Messages.PatchOp.id],
      Operations: [...operations],
    } as never)
    const resource = new types[kind](before as never, 'out')
    const after = await patch.apply(resource as never, async (changed: unknown) => changed as never)
    return after === undefined ? before : (JSON.parse(JSON.stringify(after)) as ScimObject)
  } catch (error) {
    throw refusalOf(error, 'invalidValue')
  }
}

/** A filter as a test of resources. Attributes and texts are compared in any case, as userName is. @throws ScimRefusal */
export function filterOf(kind: ScimKind, text: string): (resource: ScimObject) => boolean {
  const refuse = (detail: string) => new ScimRefusal(400, 'invalidFilter', detail)
  if (text.length > 1_000) throw refuse('filter must be at most 1,000 characters long.')
  const example = kind === 'User' ? 'userName eq "ana@example.com"' : 'displayName eq "Sales"'
  const wrong = `filter must be one such as ${example}, or several joined by and.`
  const parts: { readonly attribute: string; readonly value: string }[] = []
  // Entra ID names the address of its own by a filter within the filter.
  const asked = text.replace(/^\s*emails\[type eq "work"\]\.value\b/i, 'emails.value')
  const comparison = /\s*([A-Za-z.:0-9]+)\s+eq\s+(?:("(?:[^"\\]|\\.)*")|(true|false))(\s+and\s|\s*$)/iy
  for (let goesOn = true; goesOn; ) {
    const [, name, quoted, bare, end = ''] = comparison.exec(asked) ?? []
    if (name === undefined) throw refuse(wrong)
    const attribute = name.replace(/^urn:ietf:params:scim:schemas:core:2\.0:(User|Group):/i, '').toLowerCase()
    if (!filterable[kind].has(attribute)) {
      throw refuse(`There is no filter by ${name.slice(0, 100)}. ${wrong}`)
    }
    const value =
      quoted === undefined ? (bare ?? '') : reading('invalidFilter', () => String(JSON.parse(quoted)))
    parts.push({ attribute, value: value.toLowerCase() })
    goesOn = /and/i.test(end)
  }
  return (resource) =>
    parts.every(({ attribute, value }) =>
      valuesOf(resource, attribute).some((one) => one.toLowerCase() === value),
    )
}

const filterable: Readonly<Record<ScimKind, ReadonlySet<string>>> = {
  User: new Set(['id', 'username', 'externalid', 'displayname', 'active', 'emails', 'emails.value']),
  Group: new Set(['id', 'displayname', 'externalid', 'members', 'members.value']),
}

function valuesOf(resource: ScimObject, attribute: string): string[] {
  const [root = ''] = attribute.split('.')
  const found = Object.entries(resource).find(([name]) => name.toLowerCase() === root)?.[1]
  const list = Array.isArray(found) ? found : found === undefined ? [] : [found]
  return list.map((one) => String(isObject(one) ? one.value : one))
}

/** A page of resources, as the query asks for it (RFC 7644 section 3.4.2). @throws ScimRefusal */
export function pageOf(kind: ScimKind, all: readonly ScimObject[], query: URLSearchParams) {
  const filter = query.get('filter')
  const found = filter === null ? all : all.filter(filterOf(kind, filter))
  const startIndex = Math.max(1, wholeOf(query, 'startIndex') ?? 1)
  const count = Math.min(scimPageMax, Math.max(0, wholeOf(query, 'count') ?? scimPageMax))
  const page = found.slice(startIndex - 1, startIndex - 1 + count).map((one) => selected(one, query))
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: found.length,
    startIndex,
    itemsPerPage: page.length,
    Resources: page,
  }
}

function wholeOf(query: URLSearchParams, name: string): number | null {
  const text = query.get(name)
  if (text === null) return null
  if (/^[+-]?\d{1,9}$/.test(text)) return Number(text)
  throw new ScimRefusal(
    400,
    'invalidValue',
    `${name} must be a whole number; it is ${JSON.stringify(text.slice(0, 50))}.`,
  )
}

/** A resource with the attributes that the query asks for. */
export function selected(resource: ScimObject, query: URLSearchParams): ScimObject {
  const names = (name: string) =>
    new Set(
      (query.get(name) ?? '')
        .split(',')
        .map(rootOf)
        .filter((one) => one !== ''),
    )
  const [wanted, unwanted] = [names('attributes'), names('excludedAttributes')]
  const always = new Set(['schemas', 'id'])
  return Object.fromEntries(
    Object.entries(resource).filter(([name]) => {
      const folded = name.toLowerCase()
      return always.has(folded) || ((wanted.size === 0 || wanted.has(folded)) && !unwanted.has(folded))
    }),
  )
}

const text = { type: 'string', multiValued: false, caseExact: false, returned: 'default', uniqueness: 'none' }
const plainText = (name: string, description: string, more: object = {}) => ({
  ...text,
  ...{ name, description, required: false, mutability: 'readWrite' },
  ...more,
})
const readOnlyList = (name: string, description: string) => ({
  ...{ name, type: 'complex', multiValued: true, required: false, description },
  ...{ mutability: 'readOnly', returned: 'default' },
  subAttributes: [plainText('value', 'Its id or address', { mutability: 'readOnly' })],
})

/** The schemas of what Lanewise keeps, which is less than the standard permits. */
export const scimSchemas: readonly ScimObject[] = [
  {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id: types.User.definition.id,
    name: 'User',
    description: 'A person of the brokerage',
    attributes: [
      plainText('userName', 'The e-mail address that signs in', { required: true, uniqueness: 'server' }),
      {
        ...{ name: 'name', type: 'complex', multiValued: false, required: false, mutability: 'readWrite' },
        ...{ returned: 'default', description: 'The name' },
        subAttributes: [
          plainText('formatted', 'The whole name'),
          plainText('givenName', 'The first name'),
          plainText('familyName', 'The last name'),
        ],
      },
      plainText('displayName', 'The name that pages show'),
      {
        ...{ name: 'active', type: 'boolean', multiValued: false, required: false, mutability: 'readWrite' },
        ...{ returned: 'default', description: 'false: the person is suspended' },
      },
      readOnlyList('emails', 'The same address as userName'),
      readOnlyList('groups', 'The groups of the person'),
    ],
  },
  {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id: types.Group.definition.id,
    name: 'Group',
    description: 'A role or a team',
    attributes: [
      plainText('displayName', 'The name', { required: true, uniqueness: 'server' }),
      {
        ...{ name: 'members', type: 'complex', multiValued: true, required: false, mutability: 'readWrite' },
        ...{ returned: 'default', description: 'The people in it' },
        subAttributes: [plainText('value', 'The id of a person', { mutability: 'immutable' })],
      },
    ],
  },
]

export const scimResourceTypes: readonly ScimObject[] = (['User', 'Group'] as const).map((name) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
  ...{ id: name, name, endpoint: `/${name}s`, schema: types[name].definition.id },
  description: name === 'User' ? 'A person of the brokerage' : 'A role or a team',
}))

export const scimProvider: ScimObject = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: scimPageMax },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      ...{ type: 'oauthbearertoken', name: 'Service token', primary: true },
      description: 'A service token with the scope people:write, as Authorization: Bearer',
    },
  ],
}
