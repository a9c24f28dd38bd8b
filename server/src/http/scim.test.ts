import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { scimBodyBytesMax, teamsMax } from '#contract/limits.ts'
import { appOn } from '#testing/app-on-database.ts'
import {
  type Answer,
  call,
  type MadeTenant,
  makePerson,
  makeServiceToken,
  makeTenant,
} from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let tenant: MadeTenant
let token: string

beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  app.now += 16 * 60_000
  tenant = await makeTenant(app)
  token = await makeServiceToken(app, tenant.owner, 'people:write')
})
afterAll(() => app.close())

const core = 'urn:ietf:params:scim:schemas:core:2.0'
const patchOp = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

async function scim(method: string, path: string, body?: unknown, as = token): Promise<Answer> {
  const response = await fetch(`${app.url}/scim/v2${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${as}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/scim+json; charset=utf-8' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : JSON.parse(text),
  }
}
const patch = (path: string, ...Operations: object[]) =>
  scim('PATCH', path, { schemas: [patchOp], Operations })

/** A person as Entra ID creates one with its default attribute mappings. */
const ofEntra = (email: string, more: object = {}) => ({
  schemas: [`${core}:User`, enterprise],
  externalId: `entra-${email}`,
  userName: email,
  active: true,
  displayName: 'Sam Reyes',
  emails: [{ primary: true, type: 'work', value: email }],
  meta: { resourceType: 'User' },
  name: { formatted: 'Sam Reyes', familyName: 'Reyes', givenName: 'Sam' },
  title: 'Broker',
  [enterprise]: { department: 'Produce', manager: 'Ana' },
  ...more,
})
/** A person as Okta creates one. */
const ofOkta = (email: string) => ({
  schemas: [`${core}:User`],
  userName: email,
  name: { givenName: 'Kit', familyName: 'Lane' },
  emails: [{ primary: true, value: email, type: 'work' }],
  displayName: 'Kit Lane',
  locale: 'en-US',
  externalId: '00ujl29u0le5T6Aj10h7',
  groups: [],
  password: '1mz050nq',
  active: true,
})
const add = async (email: string): Promise<string> => (await scim('POST', '/Users', ofEntra(email))).body.id
const me = (as: string) => call(app, 'GET', '/api/me', { token: as })
const people = async () => (await call(app, 'GET', '/api/users', { token: tenant.owner })).body.users
const roleOf = async (id: number | string) =>
  (await people()).find((person: { id: number }) => String(person.id) === String(id))?.role
const asError = (answer: Answer) => [answer.status, answer.body.scimType, answer.body.detail]

describe('a directory like Entra ID', () => {
  test('tests its connection, adds a person, finds them, changes, suspends, restores and removes them', async () => {
    const query = new URLSearchParams({ filter: `userName eq "${crypto.randomUUID()}"` })
    expect((await scim('GET', `/Users?${query}`)).body).toMatchObject({ totalResults: 0, Resources: [] })
    const added = await scim('POST', '/Users', ofEntra('sam@example.com'))
    expect([added.status, added.headers.get('content-type')]).toEqual([
      201,
      'application/scim+json; charset=utf-8',
    ])
    const { id } = added.body
    expect(added.headers.get('location')).toBe(`/scim/v2/Users/${id}`)
    expect(added.body).toMatchObject({
      ...{
        userName: 'sam@example.com',
        externalId: 'entra-sam@example.com',
        active: true,
        displayName: 'Sam Reyes',
      },
      name: { formatted: 'Sam Reyes', givenName: 'Sam', familyName: 'Reyes' },
    })
    const found = await scim(
      'GET',
      `/Users?${new URLSearchParams({ filter: 'userName eq "SAM@example.com"' })}`,
    )
    expect(found.body.Resources.map((one: { id: string }) => one.id)).toEqual([id])
    const changed = await patch(
      `/Users/${id}`,
      { op: 'Replace', path: 'name.familyName', value: 'Reyes-Ortiz' },
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '555' },
      { op: 'Replace', path: `${enterprise}:department`, value: 'Reefer' },
    )
    expect([changed.status, changed.body.displayName]).toEqual([200, 'Sam Reyes-Ortiz'])
    const suspended = await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })
    expect(suspended.body.active).toBe(false)
    expect((await people()).at(-1)).toMatchObject({ email: 'sam@example.com', status: 'suspended' })
    const restored = await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'True' })
    expect(restored.body.active).toBe(true)
    expect((await people()).at(-1).status).toBe('invited')
    expect((await scim('DELETE', `/Users/${id}`)).status).toBe(204)
    expect((await scim('GET', `/Users/${id}`)).status).toBe(404)
    const again = await scim('POST', '/Users', ofEntra('sam@example.com'))
    expect(again.status).toBe(201)
  })

  test('gives roles and teams by groups, and a person without one is a viewer', async () => {
    const id = await add('sam@example.com')
    const query = new URLSearchParams({
      excludedAttributes: 'members',
      filter: 'displayName eq "Lanewise admins"',
    })
    const found = await scim('GET', `/Groups?${query}`)
    expect(found.body.Resources).toEqual([
      expect.objectContaining({ id: 'role-admin', displayName: 'Lanewise admins' }),
    ])
    expect(found.body.Resources[0]).not.toHaveProperty('members')
    const member = { op: 'Add', path: 'members', value: [{ $ref: null, value: id }] }
    expect((await patch('/Groups/role-member', member)).status).toBe(200)
    expect(await roleOf(id)).toBe('member')
    await patch('/Groups/role-admin', member)
    expect(await roleOf(id)).toBe('admin')
    await patch('/Groups/role-admin', { op: 'Remove', path: 'members', value: [{ $ref: null, value: id }] })
    expect(await roleOf(id)).toBe('member')
    await patch('/Groups/role-member', { op: 'remove', path: `members[value eq "${id}"]` })
    expect(await roleOf(id)).toBe('viewer')
    const team = await scim('POST', '/Groups', {
      ...{ schemas: [`${core}:Group`], externalId: 'entra-produce', displayName: 'Produce' },
      meta: { resourceType: 'Group' },
    })
    expect([team.status, team.body.members]).toEqual([201, []])
    const filled = await patch(`/Groups/${team.body.id}`, member)
    expect(filled.body.members).toEqual([{ value: id, display: 'Sam Reyes', type: 'User' }])
    const user = await scim('GET', `/Users/${id}`)
    expect(user.body.groups).toEqual([{ value: team.body.id, display: 'Produce' }])
    expect((await scim('DELETE', `/Groups/${team.body.id}`)).status).toBe(204)
  })
})

describe('a directory like Okta', () => {
  test('adds, replaces and suspends a person, and pushes a group', async () => {
    const filter = 'userName eq "kit@example.com"'
    const query = new URLSearchParams({ filter, startIndex: '1', count: '100' })
    expect((await scim('GET', `/Users?${query}`)).body.totalResults).toBe(0)
    const added = await scim('POST', '/Users', ofOkta('kit@example.com'))
    expect(added.status).toBe(201)
    const { id } = added.body
    const replaced = await scim('PUT', `/Users/${id}`, {
      ...ofOkta('kit@example.com'),
      ...{ id, displayName: 'Kit Harbor', name: { givenName: 'Kit', familyName: 'Harbor' } },
      meta: { resourceType: 'User' },
    })
    expect(replaced.body.displayName).toBe('Kit Harbor')
    const suspended = await patch(`/Users/${id}`, { op: 'replace', value: { active: false } })
    expect(suspended.body.active).toBe(false)
    const pushed = await scim('POST', '/Groups', {
      schemas: [`${core}:Group`],
      ...{ displayName: 'Reefer', members: [{ value: id, display: 'kit@example.com' }] },
    })
    expect(pushed.body.members.map((one: { value: string }) => one.value)).toEqual([id])
    const renamed = await patch(`/Groups/${pushed.body.id}`, {
      op: 'replace',
      value: { id: pushed.body.id, displayName: 'Reefer desk' },
    })
    expect(renamed.body.displayName).toBe('Reefer desk')
    const emptied = await patch(
      `/Groups/${pushed.body.id}`,
      { op: 'remove', path: `members[value eq "${id}"]` },
      { op: 'add', path: 'members', value: [] },
    )
    expect(emptied.body.members).toEqual([])
  })

  test('pages through people', async () => {
    for (const name of ['a', 'b', 'c']) await add(`${name}@example.com`)
    const second = await scim('GET', '/Users?startIndex=2&count=2')
    expect(second.body).toMatchObject({ totalResults: 4, startIndex: 2, itemsPerPage: 2 })
    expect(second.body.Resources.map((one: { userName: string }) => one.userName)).toEqual([
      'a@example.com',
      'b@example.com',
    ])
    expect((await scim('GET', '/Users?count=0')).body).toMatchObject({ totalResults: 4, Resources: [] })
    const found = async (filter: string) =>
      (await scim('GET', `/Users?${new URLSearchParams({ filter })}`)).body.totalResults
    expect(await found('externalId eq "entra-b@example.com"')).toBe(1)
    expect(await found('externalId eq "entra-b@example.com" and active eq false')).toBe(0)
    expect(await found('emails[type eq "work"].value eq "b@example.com"')).toBe(1)
    expect(await found('displayName eq "b and userName eq c"')).toBe(0)
  })
})

test('suspension ends sessions at once on every instance, and what it stops comes back', async () => {
  const member = await makePerson(app, tenant, 'member')
  const elsewhere = await appOn(app.testDatabase, { secretKeys: [app.secretKey], now: app.now })
  try {
    const there = () => call(elsewhere, 'GET', '/api/me', { token: member.token })
    expect((await there()).status).toBe(200)
    await patch(`/Users/${member.id}`, { op: 'replace', path: 'active', value: false })
    expect([(await there()).status, (await me(member.token)).status]).toEqual([401, 401])
  } finally {
    await elsewhere.close()
  }
  const signIn = { body: { email: member.email, password: member.password } }
  expect((await call(app, 'POST', '/api/auth/sign-in', signIn)).status).toBe(401)
  await patch(`/Users/${member.id}`, { op: 'replace', path: 'active', value: true })
  expect((await call(app, 'POST', '/api/auth/sign-in', signIn)).status).toBe(200)
})

describe('owners', () => {
  test('the last one is neither suspended nor removed', async () => {
    const owner = (await me(tenant.owner)).body.user.id
    const admin = await makePerson(app, tenant, 'admin')
    const theirs = await makeServiceToken(app, admin.token, 'people:write')
    const operations = { schemas: [patchOp], Operations: [{ op: 'replace', path: 'active', value: false }] }
    const suspended = await scim('PATCH', `/Users/${owner}`, operations, theirs)
    expect([suspended.status, suspended.body.detail]).toEqual([409, expect.stringContaining('only owner')])
    expect((await scim('DELETE', `/Users/${owner}`, undefined, theirs)).status).toBe(409)
    expect((await me(tenant.owner)).status).toBe(200)
  })

  test('keep their role in the groups of roles', async () => {
    const second = await makePerson(app, tenant, 'owner')
    const path = '/Groups/role-member'
    const added = await patch(path, { op: 'add', path: 'members', value: [{ value: String(second.id) }] })
    expect(added.status).toBe(200)
    expect(await roleOf(second.id)).toBe('owner')
    expect((await patch(path, { op: 'remove', path: `members[value eq "${second.id}"]` })).status).toBe(200)
    expect(await roleOf(second.id)).toBe('owner')
    expect((await me(second.token)).status).toBe(200)
  })

  test('are suspended by the token of an owner only, and no group makes one', async () => {
    const second = await makePerson(app, tenant, 'owner')
    const admin = await makePerson(app, tenant, 'admin')
    const theirs = await makeServiceToken(app, admin.token, 'people:write')
    const operations = { schemas: [patchOp], Operations: [{ op: 'replace', path: 'active', value: false }] }
    const refused = await scim('PATCH', `/Users/${second.id}`, operations, theirs)
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('an owner made')])
    expect((await me(second.token)).status).toBe(200)
    expect((await scim('PATCH', `/Users/${second.id}`, operations)).status).toBe(200)
    const groups = await scim('GET', '/Groups')
    expect(groups.body.Resources.map((one: { id: string }) => one.id)).toEqual([
      'role-admin',
      'role-member',
      'role-viewer',
    ])
  })

  test('whoever made the token keeps what it needs', async () => {
    const admin = await makePerson(app, tenant, 'admin')
    const theirs = await makeServiceToken(app, admin.token, 'people:write')
    const operations = { schemas: [patchOp], Operations: [{ op: 'replace', path: 'active', value: false }] }
    const suspended = await scim('PATCH', `/Users/${admin.id}`, operations, theirs)
    expect([suspended.status, suspended.body.detail]).toEqual([
      409,
      expect.stringContaining('made the token'),
    ])
    const member = [{ value: String(admin.id) }]
    const demoting = { schemas: [patchOp], Operations: [{ op: 'add', path: 'members', value: member }] }
    const demoted = await scim('PATCH', '/Groups/role-viewer', demoting, theirs)
    expect(demoted.status).toBe(409)
    expect(await roleOf(admin.id)).toBe('admin')
  })
})

describe('addresses', () => {
  test('a person of the directory claims none: another brokerage and a sign-up can use it', async () => {
    const others = await makeTenant(app)
    expect((await scim('POST', '/Users', ofEntra(others.email))).status).toBe(201)
    await add('free@example.com')
    const body = {
      company: 'New',
      name: 'New',
      email: 'free@example.com',
      password: 'otter saddle lamp pond',
    }
    expect((await call(app, 'POST', '/api/auth/sign-up', { body })).status).toBe(201)
    const theirs = { body: { email: others.email, password: others.password } }
    expect((await call(app, 'POST', '/api/auth/sign-in', theirs)).body.tenant.id).toBe(others.id)
  })

  test('two requests at once add one person', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => scim('POST', '/Users', ofEntra('sam@example.com'))))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })

  test('one address is one person, and the address that signs somebody in stays', async () => {
    const member = await makePerson(app, tenant, 'member')
    const twice = await scim('POST', '/Users', ofEntra(member.email.toUpperCase()))
    expect(asError(twice)).toEqual([409, 'uniqueness', expect.stringContaining(`the id ${member.id}`)])
    const moved = await patch(`/Users/${member.id}`, {
      op: 'replace',
      path: 'userName',
      value: 'new@example.com',
    })
    expect(asError(moved)).toEqual([400, 'mutability', expect.stringContaining('is not changed')])
    const id = await add('sam@example.com')
    const renamed = await patch(`/Users/${id}`, {
      op: 'replace',
      path: 'userName',
      value: 'sam2@example.com',
    })
    expect(renamed.body.userName).toBe('sam2@example.com')
    expect(
      (await patch(`/Users/${id}`, { op: 'replace', path: 'userName', value: member.email })).status,
    ).toBe(409)
  })
})

describe('what is refused changes nothing, and says why in the form of SCIM', () => {
  const operations = (...Operations: unknown[]) => ({ schemas: [patchOp], Operations })
  test.each([
    ['an unknown path', operations({ op: 'replace', path: 'shoeSize', value: 4 }), 'invalidPath', 'shoeSize'],
    [
      'an unknown part of a path',
      operations({ op: 'replace', path: 'name.shoe', value: 'x' }),
      'invalidPath',
      'name.shoe',
    ],
    [
      'an unknown operation',
      operations({ op: 'move', path: 'active' }),
      'invalidSyntax',
      'add, remove or replace',
    ],
    [
      'a value of another type',
      operations({ op: 'replace', path: 'active', value: 'perhaps' }),
      'invalidValue',
      'active',
    ],
    [
      'no address',
      operations({ op: 'replace', path: 'userName', value: 'sam' }),
      'invalidValue',
      'e-mail address',
    ],
    [
      'a line in a name',
      operations({ op: 'replace', path: 'displayName', value: 'Sam\nBcc' }),
      'invalidValue',
      'control',
    ],
    ['no operations', operations(), 'invalidSyntax', 'at least one'],
    ['a removal without a path', operations({ op: 'remove' }), 'noTarget', 'path'],
    [
      'no schema',
      { Operations: [{ op: 'replace', path: 'active', value: false }] },
      'invalidSyntax',
      'schemas',
    ],
    ['no JSON', '{', 'invalidSyntax', 'JSON'],
    ['a forbidden key', '{"__proto__":{}}', 'invalidSyntax', '__proto__'],
  ])('%s', async (_what, body, scimType, detail) => {
    const id = await add('sam@example.com')
    const before = (await scim('GET', `/Users/${id}`)).body
    // The first operation is valid: nothing of the request may be changed.
    const sent =
      typeof body === 'object' && 'schemas' in body && body.Operations.length > 0
        ? {
            ...body,
            Operations: [{ op: 'replace', path: 'displayName', value: 'Changed' }, ...body.Operations],
          }
        : body
    const refused = await scim('PATCH', `/Users/${id}`, sent)
    expect(refused.headers.get('content-type')).toBe('application/scim+json; charset=utf-8')
    expect(refused.body.schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:Error'])
    expect(refused.body.status).toBe('400')
    expect(asError(refused)).toEqual([400, scimType, expect.stringContaining(detail)])
    expect((await scim('GET', `/Users/${id}`)).body).toEqual(before)
  })

  test.each([
    'userName',
    'userName eq',
    'shoe eq "4"',
    '(userName eq "a"',
    'userName co "a"',
    'userName eq "a" or id eq "1"',
  ])('the filter %s', async (filter) => {
    const refused = await scim('GET', `/Users?${new URLSearchParams({ filter })}`)
    expect(asError(refused)).toEqual([400, 'invalidFilter', expect.any(String)])
  })

  test("somebody who is not here as a member, another brokerage's person too", async () => {
    const others = await makeTenant(app)
    const stranger = await makePerson(app, others, 'member')
    for (const value of [String(stranger.id + 1_000), 'x', '0']) {
      const refused = await patch('/Groups/role-admin', { op: 'add', path: 'members', value: [{ value }] })
      expect(asError(refused)).toEqual([400, 'invalidValue', expect.stringContaining('there is no User')])
    }
    expect((await scim('GET', '/Groups/role-admin')).body.members).toEqual([])
    expect((await scim('GET', `/Users/${stranger.id + 1_000}`)).status).toBe(404)
  })

  test('a body that is too large, of another type, or with another method', async () => {
    const large = await scim('POST', '/Users', `{"userName":"${'x'.repeat(scimBodyBytesMax)}"}`)
    expect([large.status, large.body.status]).toEqual([413, '413'])
    const typed = await fetch(`${app.url}/scim/v2/Users`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'text/plain' },
      body: '{}',
    })
    expect([typed.status, ((await typed.json()) as { status: string }).status]).toEqual([415, '415'])
    expect((await scim('DELETE', '/Users')).status).toBe(405)
    expect((await scim('GET', '/Cars')).body.detail).toContain('Users, Groups')
  })

  test('more groups than teams are possible', async () => {
    const push = (name: string) => scim('POST', '/Groups', { schemas: [`${core}:Group`], displayName: name })
    for (let count = 0; count < teamsMax; count++) expect((await push(`Team ${count}`)).status).toBe(201)
    const refused = await push('One more')
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining(`${teamsMax} teams`)])
    expect((await scim('GET', '/Groups')).body.totalResults).toBe(teamsMax + 3)
    expect(asError(await push('Lanewise admins')).slice(0, 2)).toEqual([409, 'uniqueness'])
  }, 60_000)
})

test('only a token with its scope is accepted, and errors of the token have the form of SCIM', async () => {
  for (const scope of ['read', 'integrations:write', 'quotes:write imports:write']) {
    const other = await makeServiceToken(app, tenant.owner, scope)
    const refused = await scim('GET', '/Users', undefined, other)
    expect([refused.status, refused.body.schemas]).toEqual([403, [expect.stringContaining('Error')]])
  }
  for (const bad of [tenant.owner, 'garbage'])
    expect((await scim('GET', '/Users', undefined, bad)).status).toBe(401)
  const markup =
    '/api/integrations/insights/markup?origin=Dallas,%20TX&destination=Atlanta,%20GA&proposed_rate=1'
  expect((await call(app, 'GET', markup, { token })).status).toBe(403)
})

test('another brokerage reads and changes nobody', async () => {
  const id = await add('sam@example.com')
  const others = await makeTenant(app)
  const theirs = await makeServiceToken(app, others.owner, 'people:write')
  const path = `/Users/${Number(id) + 500}`
  expect((await scim('GET', path, undefined, theirs)).status).toBe(404)
  expect((await scim('GET', '/Users', undefined, theirs)).body.totalResults).toBe(1)
})

test('the audit log says that the directory did it, and with which token', async () => {
  const id = await add('sam@example.com')
  await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })
  const { events } = (await call(app, 'GET', '/api/audit', { token: tenant.owner })).body
  expect(events[0]).toMatchObject({ kind: 'person-suspended', done_by: null, about: { by: 'SCIM' } })
  expect(events[0].token).toMatchObject({ id: expect.any(Number) })
  expect(events[1]).toMatchObject({ kind: 'person-invited', about: { by: 'SCIM', email: 'sam@example.com' } })
})

test('describes itself: configuration, schemas and types', async () => {
  expect((await scim('GET', '/ServiceProviderConfig')).body.patch).toEqual({ supported: true })
  for (const [path, count] of [
    ['/Schemas', 2],
    ['/ResourceTypes', 2],
  ] as const) {
    const list = await scim('GET', path)
    expect(list.body.totalResults).toBe(count)
    for (const { id } of list.body.Resources) expect((await scim('GET', `${path}/${id}`)).body.id).toBe(id)
  }
  expect((await scim('GET', '/Schemas/urn:unknown')).status).toBe(404)
})
