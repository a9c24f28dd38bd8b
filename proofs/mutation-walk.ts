import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { cloneDatabase, type TestDatabase } from '#testing/cloned-database.ts'
import { startCluster } from '#testing/database-cluster.ts'

/**
 * Takes each of the two walls away alone, and then both. A walk through the routes must find nothing while one of them
 * stands, and must find something when none does: else it would not notice a hole.
 */

/** The folder of the program itself. */
export const root = fileURLToPath(new URL('..', import.meta.url))
const databaseFolder = 'server/src/database/queries'

/** The conditions that keep a query to one tenant, as they are written: with the query builder, and in SQL. */
const filters = [
  /\.where\('(?:\w+\.)?tenant_id', '=', tenant\)/g,
  /(?:\w+\.)?tenant_id = \$\{tenant\}/g,
] as const

/** How often a file of queries names the tenant. */
export function filtersIn(file: string): number {
  const code = readFileSync(join(root, databaseFolder, file), 'utf8')
  return filters.reduce((count, filter) => count + (code.match(filter)?.length ?? 0), 0)
}

/** The files whose queries have such a condition. */
export function filteredFiles(): string[] {
  return readdirSync(join(root, databaseFolder)).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && filtersIn(file) > 0,
  )
}

/** Code without the conditions. */
export function withoutFilters(code: string): string {
  const [built, written] = filters
  return code.replaceAll(built, '').replaceAll(written, 'true')
}

/** A copy of the program in which the queries of some files ask for everybody's rows. */
export function mutant(files: readonly string[]): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'lanewise-mutant-'))
  for (const part of ['contract', 'engine', 'geography', 'server', 'proofs', 'package.json']) {
    cpSync(join(root, part), join(folder, part), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const file of files) {
    const path = join(folder, databaseFolder, file)
    const code = readFileSync(path, 'utf8')
    const changed = withoutFilters(code)
    if (changed === code) throw new Error(`${file} has no condition to take out.`)
    writeFileSync(path, changed)
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Takes row-level security off every table, as only their owner can. The service itself refuses such a database. */
export async function takeOffRowLevelSecurity({ owner }: TestDatabase): Promise<void> {
  const client = new pg.Client(owner)
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `select c.relname as name from pg_class c
       where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relrowsecurity`,
    )
    for (const { name } of rows) {
      await client.query(
        `alter table "${name}" disable row level security; alter table "${name}" no force row level security`,
      )
    }
  } finally {
    await client.end()
  }
}

/** Walks a program (this one, or a copy) over a database in a process of its own, and gives what it found. */
export function walkOf(folder: string, database: TestDatabase): Promise<string[]> {
  const child = spawn(
    process.execPath,
    [join(folder, 'proofs/compact-walk-main.ts'), JSON.stringify(database)],
    {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let out = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => {
      const found = /^FOUND (.*)$/m.exec(out)?.[1]
      if (found === undefined) reject(new Error(`The walk did not end:\n${out}\n${errors}`))
      else resolve(JSON.parse(found) as string[])
    })
  })
}

export interface MutationResult {
  /** The file whose conditions were taken out. */
  readonly file: string
  readonly taken: number
  /** What a walk found while row-level security stood. */
  readonly behindRowLevelSecurity: readonly string[]
  /** What a walk found when that was gone as well; null when it was not asked for. */
  readonly withoutAnyWall: readonly string[] | null
}

/** Takes the conditions out of one file after the other. */
export async function mutationWalk(
  options: {
    readonly files?: readonly string[]
    /** `row-level security` leaves it standing; `none` takes it away as well, in a second walk. */
    readonly downTo?: 'row-level security' | 'none'
    readonly onProgress?: (done: number, of: number, result: MutationResult) => void
    /** Makes a database of its own for a walk; without it a PostgreSQL is started for all of them. */
    readonly makeDatabase?: () => Promise<TestDatabase>
    readonly signal?: AbortSignal
  } = {},
): Promise<MutationResult[]> {
  const { files = filteredFiles(), downTo = 'none', onProgress, signal } = options
  const cluster = options.makeDatabase === undefined ? await startCluster() : null
  const makeDatabase =
    options.makeDatabase ?? (() => cloneDatabase((cluster as NonNullable<typeof cluster>).cluster))
  const results: MutationResult[] = []
  try {
    for (const file of files) {
      if (signal?.aborted === true) break
      const result = await walksWithout(file, makeDatabase, downTo === 'none')
      results.push(result)
      onProgress?.(results.length, files.length, result)
    }
  } finally {
    await cluster?.stop()
  }
  return results
}

async function walksWithout(
  file: string,
  makeDatabase: () => Promise<TestDatabase>,
  bothDown: boolean,
): Promise<MutationResult> {
  const copy = mutant([file])
  const walkOn = async (prepare: (database: TestDatabase) => Promise<void>) => {
    const database = await makeDatabase()
    try {
      await prepare(database)
      return await walkOf(copy.folder, database)
    } finally {
      await database.drop()
    }
  }
  try {
    return {
      file,
      taken: filtersIn(file),
      behindRowLevelSecurity: await walkOn(async () => {}),
      withoutAnyWall: bothDown ? await walkOn(takeOffRowLevelSecurity) : null,
    }
  } finally {
    copy.remove()
  }
}
