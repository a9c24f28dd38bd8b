import { problem } from '#contract/errors.ts'
import type { Parts } from '../parts.ts'
import { changeGroup, createGroup, groupResource, groupsOf, removeGroup } from './scim-groups.ts'
import {
  changeUser,
  createUser,
  directoryOf,
  noSuch,
  removeUser,
  type ScimCall,
  userResource,
  wantedUser,
} from './scim-people.ts'
import {
  pageOf,
  patched,
  readResource,
  type ScimKind,
  type ScimObject,
  ScimRefusal,
  scimProvider,
  scimResourceTypes,
  scimSchemas,
  selected,
} from './scim-protocol.ts'

export interface ScimAnswer {
  readonly status: number
  readonly body: ScimObject | null
}

const listed = (resources: readonly ScimObject[]): ScimObject => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
  ...{ totalResults: resources.length, startIndex: 1, itemsPerPage: resources.length, Resources: resources },
})

/** The answer to what describes the protocol; null if the path is another. */
function described([name, id]: readonly string[]): ScimObject | null {
  const [kind, resources] =
    name === 'Schemas'
      ? ['Schema', scimSchemas]
      : name === 'ResourceTypes'
        ? ['ResourceType', scimResourceTypes]
        : [null, []]
  if (name === 'ServiceProviderConfig' && id === undefined) return scimProvider
  if (kind === null) return null
  if (id === undefined) return listed(resources as readonly ScimObject[])
  const found = (resources as readonly ScimObject[]).find((one) => one.id === id)
  if (found === undefined) throw new ScimRefusal(404, null, `There is no ${kind} ${id.slice(0, 100)}.`)
  return found
}

function notAllowed(method: string, allowed: string) {
  return problem('method-not-allowed', `${method} is not allowed here; use ${allowed}.`, {
    headers: { Allow: allowed },
  })
}

/** Everybody or one person, every group or one. */
function reading(call: ScimCall, kind: ScimKind, id: string | undefined, parts: Parts): Promise<ScimObject> {
  const { tenant } = call.caller
  return parts.database.inTenant(tenant, async (transaction) => {
    const directory = await directoryOf(transaction, tenant)
    const all =
      kind === 'User'
        ? directory.users.map((user) => userResource(directory, user, parts))
        : groupsOf(directory).map((group) => groupResource(directory, group, parts))
    if (id === undefined) return pageOf(kind, all, call.query)
    const found = all.find((one) => one.id === id)
    if (found === undefined) throw noSuch(kind, id)
    return selected(found, call.query)
  })
}

async function changingOne(call: ScimCall, kind: ScimKind, id: string, parts: Parts): Promise<ScimAnswer> {
  const { method, body } = call
  if (method === 'DELETE') {
    await (kind === 'User' ? removeUser : removeGroup)(call, id, parts)
    return { status: 204, body: null }
  }
  if (method !== 'PUT' && method !== 'PATCH') throw notAllowed(method, 'DELETE, GET, PATCH, PUT')
  const whole = method === 'PUT' ? readResource(kind, body) : null
  const after = async (before: ScimObject) => whole ?? (await patched(kind, before, body))
  const changed =
    kind === 'User'
      ? await changeUser(
          call,
          id,
          async (before) => wantedUser(await after(before), whole === null ? before : undefined),
          parts,
        )
      : await changeGroup(call, id, after, parts)
  return { status: 200, body: selected(changed, call.query) }
}

/**
 * Answers a SCIM request of a directory (RFC 7644).
 *
 * @throws ScimRefusal, Problem
 */
export async function answerScim(call: ScimCall, parts: Parts): Promise<ScimAnswer> {
  const { method, path } = call
  const [name, id, ...more] = path
  if (more.length > 0) throw new ScimRefusal(404, null, 'There is nothing at this address.')
  const description = described(path)
  if (description !== null) {
    if (method !== 'GET') throw notAllowed(method, 'GET')
    return { status: 200, body: description }
  }
  const kind = name === 'Users' ? 'User' : name === 'Groups' ? 'Group' : null
  if (kind === null) {
    throw new ScimRefusal(
      404,
      null,
      'There is nothing at this address. There are Users, Groups, Schemas, ResourceTypes and ServiceProviderConfig.',
    )
  }
  if (method === 'GET') return { status: 200, body: await reading(call, kind, id, parts) }
  if (id !== undefined) return changingOne(call, kind, id, parts)
  if (method !== 'POST') throw notAllowed(method, 'GET, POST')
  const sent = readResource(kind, call.body)
  return { status: 201, body: await (kind === 'User' ? createUser : createGroup)(call, sent, parts) }
}
