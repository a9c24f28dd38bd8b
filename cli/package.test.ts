/** @module-tag long */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nodeOfMajor } from '../checks/other-programs.ts'
import { run } from '../checks/page.ts'
import { root } from '../checks/repository.ts'
import { type ScriptedServer, scriptedServer } from '../client/testing/scripted-server.ts'

/** Tests the published command: packed, installed, and run from its bin. */

let project: string
let server: ScriptedServer

beforeAll(async () => {
  server = await scriptedServer()
  project = mkdtempSync(join(tmpdir(), 'lanewise-cli-'))
  execFileSync(process.execPath, [join(root, 'cli/build.ts'), join(project, 'built')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const npm = (...args: string[]) =>
    execFileSync('npm', args, { cwd: project, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const packed = npm('pack', join(project, 'built')).trim().split('\n').at(-1) ?? ''
  writeFileSync(join(project, 'package.json'), '{"private": true}')
  npm('install', '--offline', '--no-audit', '--no-fund', `./${packed}`)
})
afterAll(async () => {
  rmSync(project, { recursive: true, force: true })
  await server.close()
})

test('has no dependencies, and includes the licenses of its parts', () => {
  const installed = join(project, 'node_modules')
  expect(readdirSync(installed).filter((name) => !name.startsWith('.'))).toEqual(['lanewise-cli'])
  expect(readdirSync(join(installed, 'lanewise-cli'))).toEqual(
    expect.arrayContaining(['LICENSE', 'LICENSES-OF-PARTS', 'README.md']),
  )
})

test('runs from its bin on Node 20, with the documented exit codes', async () => {
  const node = nodeOfMajor(20)
  if (typeof node !== 'string') {
    process.stderr.write(`NOT TESTED on Node 20: ${node.missing}\n`)
    return
  }
  const env = { LANEWISE_URL: server.url, LANEWISE_TOKEN: 'made-up' }
  server.play({ status: 200, body: { found: false, confidence: 'none' } })
  const lanewise = (...words: string[]) =>
    run(node, [join(project, 'node_modules/.bin/lanewise'), ...words], { env })
  expect(await lanewise('markup', 'Dallas, TX', 'Atlanta, GA', '2150', '--json')).toEqual({
    code: 0,
    output: '{"found":false,"confidence":"none"}\n',
    complaint: '',
  })
  expect((await lanewise('shipment-update', '7-1-1')).code).toBe(3)
  expect((await lanewise('--version')).output).toMatch(/^\d+\.\d+\.\d+ \(([0-9a-f]{12}|unknown)\)\n$/)
})
