import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const runTests = fileURLToPath(new URL('run-tests.ts', import.meta.url))

const passes = "it('passes', () => {})"
const fails = "it('fails', () => expect(1).toBe(2))"
const crashes =
  "it('crashes', async () => { process.kill(process.pid, 'SIGTRAP'); await new Promise(() => {}) })"
const crashesOnce = `import { existsSync, writeFileSync } from 'node:fs'
it('crashes once', async () => {
  if (existsSync('crashed')) return
  writeFileSync('crashed', '')
  process.kill(process.pid, 'SIGTRAP')
  await new Promise(() => {})
})`

it.each([
  ['a file whose process crashes once runs again and passes', { crashesOnce, passes }, 0, ['crashesOnce']],
  ['a file whose process crashes twice fails', { crashes, passes }, 1, ['crashes']],
  ['a test that fails is not repeated, nor is a crash beside it', { crashesOnce, fails }, 1, []],
  ['a run without a crash runs each file once', { passes }, 0, []],
] as const)('%s', async (_, files, exitCode, repeated) => {
  const { code, output } = await run(files)
  expect(code, output).toBe(exitCode)
  expect(
    [...output.matchAll(/(\w+)\.test\.js \(retry x1\): SIGTRAP ended its process/g)].map(([, name]) => name),
  ).toEqual(repeated)
})

/** Runs test files in a folder of their own, and returns the exit code and what was printed. */
async function run(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'run-tests-'))
  try {
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(folder, `${name}.test.js`), content)
    const child = spawn(process.execPath, [runTests, '--root', folder, '--globals', '--maxWorkers', '1'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ])
    return { code, output: `${output}${errors}` }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
