import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { accountNamed, accountWarning } from './account.ts'

const folder = mkdtempSync(join(tmpdir(), 'lanewise-account-'))
afterAll(() => rmSync(folder, { recursive: true }))
const users = join(folder, 'passwd')
writeFileSync(
  users,
  'root:x:0:0:root:/root:/bin/sh\nlanewise:x:61000:61001::/:/bin/false\nnobody:x:65534:65534::/:/bin/false\n',
)

test('the dedicated account is found by its exact name', () => {
  expect(accountNamed('lanewise', users)).toEqual({ uid: 61000, gid: 61001 })
  expect(accountNamed('lane', users)).toBeNull()
  expect(accountNamed('root', users)).toBeNull()
})

test('the operator is warned if other programs may run under the account, and not otherwise', () => {
  expect(accountWarning({ uid: 65534, gid: 65534 }, users)).toMatch(/"nobody".*can read it.*"lanewise"/)
  expect(accountWarning({ uid: 61000, gid: 61001 }, users)).toBeNull()
  expect(accountWarning(null, users)).toBeNull()
})
