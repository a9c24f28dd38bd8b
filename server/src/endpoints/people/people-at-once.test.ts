import { beforeAll, expect, test } from 'vitest'
import { endSessions, removeUser, sandboxPerson, updateUser } from '#server/database/queries/index.ts'
import type { TenantTransaction } from '#server/database/schema/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { type Answer, call, type MadeTenant, makePerson, makeTenant, password } from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { waitingForLock } from '#testing/waiting-for-lock.ts'

let app: TestApp

beforeAll(async () => {
  app = await sharedApp()
})

/** Makes a request while another transaction has changed the same people and has not committed yet. */
async function whileChanging(
  of: MadeTenant,
  change: (transaction: TenantTransaction) => Promise<unknown>,
  request: () => Promise<Answer>,
): Promise<Answer> {
  let answer: Promise<Answer> | undefined
  await app.database.inTenant(tenantId(of.id), async (transaction) => {
    await change(transaction)
    answer = request()
    await Promise.race([answer, waitingForLock(app.testDatabase.service)])
  })
  if (answer === undefined) throw new Error('Nothing was asked.')
  return answer
}

const codeOf = (answer: Answer) => answer.body.type?.replace('/problems/', '')

test('accepting an invitation while its person is removed does not restore the person', async () => {
  const acme = await makeTenant(app)
  const invited = await call(app, 'POST', '/api/users', {
    token: acme.owner,
    body: { name: 'Sam Reyes', email: `sam-${crypto.randomUUID()}@example.com`, role: 'member' },
  })
  const answer = await whileChanging(
    acme,
    (transaction) =>
      removeUser(transaction, tenantId(acme.id), {
        ...invited.body.user,
        tenant_id: acme.id,
        user_id: invited.body.user.id,
      }),
    () =>
      call(app, 'POST', '/api/auth/accept-invitation', {
        body: { invitation: invited.body.invitation, password },
      }),
  )
  expect([answer.status, codeOf(answer)]).toEqual([401, 'token-invalid'])
})

test('a concurrent removal cannot remove a person who becomes the only owner', async () => {
  const acme = await makeTenant(app)
  const ownTenant = tenantId(acme.id)
  const me = await call(app, 'GET', '/api/me', { token: acme.owner })
  const admin = await makePerson(app, acme, 'admin')
  const answer = await whileChanging(
    acme,
    async (transaction) => {
      await updateUser(transaction, ownTenant, admin.id, { role: 'owner' })
      await updateUser(transaction, ownTenant, me.body.user.id, { role: 'admin' })
    },
    () => call(app, 'DELETE', `/api/users/${admin.id}`, { token: acme.owner }),
  )
  expect([answer.status, codeOf(answer)]).toEqual([409, 'last-owner'])
})

test('a password that is being changed opens no session that outlives the change', async () => {
  const acme = await makeTenant(app)
  const ownTenant = tenantId(acme.id)
  const me = await call(app, 'GET', '/api/me', { token: acme.owner })
  const answer = await whileChanging(
    acme,
    async (transaction) => {
      await updateUser(transaction, ownTenant, me.body.user.id, { password_hash: 'another' })
      await endSessions(transaction, ownTenant, me.body.user.id, new Date(app.now))
    },
    () => call(app, 'POST', '/api/auth/sign-in', { body: { email: acme.email, password } }),
  )
  expect([answer.status, codeOf(answer)]).toEqual([401, 'sign-in-failed'])
})

test('two first sessions at once in the test brokerage are of one person', async () => {
  const acme = await makeTenant(app)
  const { body: session } = await call(app, 'POST', '/api/sandbox/session', { token: acme.owner, body: {} })
  const sandbox = session.tenant
  const admin = await makePerson(app, acme, 'admin')
  const { user } = (await call(app, 'GET', '/api/me', { token: admin.token })).body
  const entered = await whileChanging(
    { ...acme, id: sandbox.id },
    (transaction) => sandboxPerson(transaction, tenantId(sandbox.id), user, new Date(app.now)),
    () => call(app, 'POST', '/api/sandbox/session', { token: admin.token, body: {} }),
  )
  const { body } = await call(app, 'GET', '/api/users', { token: entered.body.token })
  const emails = body.users.map(({ email }: { email: string }) => email)
  expect(emails.filter((email: string) => email === user.email)).toHaveLength(1)
})
