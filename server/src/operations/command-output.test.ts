import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

/** Starts a program whose command prints `code`, and closes its output after the first part. */
async function withoutReader(code: string) {
  const program = `
    import { exitCodeOf } from '#server/operations/command-database.ts'
    process.exitCode = await exitCodeOf(async () => { ${code} })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program])
  const said = text(child.stderr)
  child.stdout.once('data', () => child.stdout.destroy())
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, said: await said }
}

const endlessOutput = `
  for (;;) await new Promise((resolve) => process.stdout.write('a line\\n'.repeat(10_000), resolve))`

test('a command whose reader leaves ends without an error', async () => {
  expect(await withoutReader(endlessOutput)).toEqual({ status: 0, said: '' })
})
