import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { stopAbandonedPostgres } from './embedded-postgres/index.ts'
import { startFailure } from './start-failure.ts'

const nobody = { uid: 65534, gid: 65534 }
const asRoot = process.getuid?.() === 0
const mainFile = join(import.meta.dirname, 'main.ts')
const nobodyCanRead = asRoot && spawnSync('/bin/cat', [mainFile], { ...nobody, stdio: 'ignore' }).status === 0

let folder: string
let directory: string
const mounted: string[] = []
const children: ChildProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lanewise-refused-'))
  if (asRoot) chmodSync(folder, 0o711)
  directory = join(folder, 'data')
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await stopAbandonedPostgres(directory)
  for (const path of mounted.splice(0)) run('umount', path)
  rmSync(folder, { recursive: true, force: true })
})

/** A start that must fail: its exit code and what it writes to stderr. */
async function refusedStart(
  env: Record<string, string> = {},
  account: { uid?: number; gid?: number } = {},
  onSaid = (_text: string) => {},
): Promise<{ code: unknown; said: string }> {
  const child = spawn(process.execPath, [mainFile], {
    env: { ...process.env, DATA_DIR: directory, PORT: '0', LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...account,
  })
  children.push(child)
  child.stdout.setEncoding('utf8').on('data', onSaid)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [code] = await once(child, 'close')
  return { code, said }
}

const run = (program: string, ...options: string[]) => execFileSync(program, options, { stdio: 'ignore' })

function fillDisk(): void {
  const ballast = openSync(join(directory, 'ballast'), 'w')
  const bytes = Buffer.alloc(65_536)
  try {
    for (;;) writeSync(ballast, bytes)
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' })
  } finally {
    closeSync(ballast)
  }
}

/** A disk of the given size in megabytes; false if this process may not mount one. */
function smallDisk(megabytes: number): boolean {
  mkdirSync(directory, { mode: 0o711 })
  try {
    const options = `size=${megabytes}m,mode=0711`
    run('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', directory)
  } catch {
    return false
  }
  mounted.push(directory)
  return true
}

const oneLine = (words: string) => new RegExp(`^lanewise: [^\\n]*${words}[^\\n]*\\n$`)

describe('a start that fails says why in one line, with the remedy', { tags: 'long' }, () => {
  test.each(['', 'METRICS_'])('a port %s that is taken, before anything is created', async (prefix) => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const { code, said } = await refusedStart({ [`${prefix}PORT`]: String(port) })
    other.close()
    expect(said).toMatch(oneLine(`Port ${port} on 127.0.0.1 is in use. .*set ${prefix}PORT`))
    expect(code).toBe(1)
    expect(readdirSync(folder)).toEqual([])
  })

  test.each(['', 'METRICS_'])('an address %s that this machine does not have', async (prefix) => {
    const { code, said } = await refusedStart({ [`${prefix}PORT`]: '0', [`${prefix}HOST`]: '192.0.2.1' })
    expect(said).toMatch(oneLine(`no address 192.0.2.1. Set ${prefix}HOST`))
    expect(code).toBe(1)
    expect(readdirSync(folder)).toEqual([])
  })

  test('a data folder that is a file', async () => {
    writeFileSync(directory, '')
    const { code, said } = await refusedStart()
    expect(said).toMatch(oneLine('DATA_DIR'))
    expect(code).toBe(1)
  })

  // Below /proc/1, Node's own creation of folders never ends.
  test.skipIf(process.platform !== 'linux').each(['loop/data', '/proc/1/lanewise/data'])(
    'a data folder that cannot be: %s',
    async (path) => {
      symlinkSync('loop', join(folder, 'loop'))
      const { code, said } = await refusedStart({ DATA_DIR: resolve(folder, path) })
      expect(said).toMatch(oneLine(`${path}\\S* .*DATA_DIR`))
      expect(code).toBe(1)
    },
  )

  test('a database that does not answer', async () => {
    const { code, said } = await refusedStart({
      DATABASE_URL: 'postgres://lanewise_service:x@127.0.0.1:9/lanewise',
      LANEWISE_SECRET_KEY: randomBytes(32).toString('base64'),
    })
    expect(said).toMatch(oneLine('ECONNREFUSED.*DATABASE_URL'))
    expect(code).toBe(1)
  })

  test.runIf(asRoot)('a disk that is read-only', async ({ skip }) => {
    if (!smallDisk(4)) skip('mounting is not permitted')
    run('mount', '-o', 'remount,ro', directory)
    const { code, said } = await refusedStart()
    expect(said).toMatch(oneLine('(read-only|cannot be created).*DATA_DIR'))
    expect(code).toBe(1)
  })

  test.runIf(asRoot)('a disk that is full', async ({ skip }) => {
    if (!smallDisk(12)) skip('mounting is not permitted')
    const { code, said } = await refusedStart()
    expect(said).toMatch(oneLine('no space left on the disk.*free'))
    expect(code).toBe(1)
  })

  test.runIf(asRoot)('a disk that becomes full during the start', { tags: 'long' }, async ({ skip }) => {
    if (!smallDisk(120)) skip('mounting is not permitted')
    const fill = (text: string) => {
      if (text.includes('migrated 0001')) fillDisk()
    }
    const { code, said } = await refusedStart({}, {}, fill)
    expect(said).toMatch(oneLine('no space.*free'))
    expect(code).toBe(1)
  })

  test.runIf(nobodyCanRead)('a data folder of another user', async () => {
    mkdirSync(directory, { mode: 0o700 })
    const { code, said } = await refusedStart({}, nobody)
    expect(said).toMatch(oneLine('may not write|cannot be created.*DATA_DIR'))
    expect(code).toBe(1)
  })
})

describe('the line about an error', () => {
  test.each([
    [Object.assign(new Error('open failed'), { code: 'EMFILE' }), /limit \(ulimit -n 4096\)/],
    [
      new Error('The migration failed.', { cause: Object.assign(new Error('x'), { code: '53100' }) }),
      /no space left on the disk of \/data/,
    ],
    [
      Object.assign(new Error('transaction blocks not allowed in statement pooling mode'), { code: '08P01' }),
      /^The pooler of DATABASE_URL is in statement mode/,
    ],
    [
      Object.assign(new Error('cannot execute INSERT in a read-only transaction'), { code: '25006' }),
      /^The database is read-only: DATABASE_URL must name the primary/,
    ],
    [
      Object.assign(new Error('no'), { code: 'EACCES', path: '/data/lock' }),
      /not write to \/data\/lock: run/,
    ],
    [new TypeError('undefined is not\na function'), /undefined is not a function .*LOG_LEVEL=debug/],
    [new Error('Set A to B.'), /^Set A to B\.$/],
  ])('%s', (error, line) => {
    const said = startFailure(error, '/data')
    expect(said).toMatch(line)
    expect(said).not.toContain('\n')
  })
})
