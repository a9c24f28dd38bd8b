import { spawn } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { TestDatabase } from '#testing/cloned-database.ts'

/**
 * Removes the layers of tenant isolation one by one. The first layer is the condition on tenant_id in each query; the second
 * is row-level security in the database. A mutant is a copy of the program whose queries have lost their tenant conditions.
 * A walk through all routes must find no leak while one layer remains, and must find leaks when both are gone; otherwise the
 * walk could not detect a leak at all.
 */

/** The root folder of the program. */
export const root = fileURLToPath(new URL('..', import.meta.url))
const databaseFolder = 'server/src/database/queries'

/** The tenant conditions as they appear in source code: in the query builder, and in SQL templates. */
const tenantConditions = [
  /\.where\('(?:\w+\.)?tenant_id', '=', tenant\)/g,
  /(?:\w+\.)?tenant_id = \$\{tenant\}/g,
] as const

/** Returns the number of tenant conditions in a file of queries. */
export function countTenantConditions(file: string): number {
  const code = readFileSync(join(root, databaseFolder, file), 'utf8')
  return tenantConditions.reduce((count, condition) => count + (code.match(condition)?.length ?? 0), 0)
}

/** Returns the files whose queries have tenant conditions. */
export function filesWithTenantConditions(): string[] {
  return globSync('**/*.ts', { cwd: join(root, databaseFolder) })
    .filter((file) => !file.endsWith('.test.ts') && countTenantConditions(file) > 0)
    .sort()
}

/** Returns code without its tenant conditions. */
export function withoutTenantConditions(code: string): string {
  const [inQueryBuilder, inSql] = tenantConditions
  return code.replaceAll(inQueryBuilder, '').replaceAll(inSql, 'true')
}

/** Copies the program, and removes the tenant conditions from some files of the copy. */
export function makeMutant(files: readonly string[]): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'lanewise-mutant-'))
  for (const part of ['contract', 'engine', 'geography', 'server', 'proofs', 'package.json']) {
    cpSync(join(root, part), join(folder, part), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const file of files) {
    const path = join(folder, databaseFolder, file)
    const code = readFileSync(path, 'utf8')
    const changed = withoutTenantConditions(code)
    if (changed === code) throw new Error(`${file} has no tenant condition to remove.`)
    writeFileSync(path, changed)
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Disables row-level security on every table, as their owner. The service would refuse to start on such a database. */
export async function disableRowLevelSecurity({ owner }: TestDatabase): Promise<void> {
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

/** Runs the walk through the routes in a separate process, from a program folder (this one or a mutant). Returns the leaks. */
export function leaksFoundBy(folder: string, database: TestDatabase): Promise<string[]> {
  const child = spawn(
    process.execPath,
    [join(folder, 'proofs/compact-walk-main.ts'), JSON.stringify(database)],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let out = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => {
      const found = /^FOUND (.*)$/m.exec(out)?.[1]
      if (found === undefined) reject(new Error(`The walk failed:\n${out}\n${errors}`))
      else resolve(JSON.parse(found) as string[])
    })
  })
}

export interface MutationResult {
  /** The file that lost its tenant conditions. */
  readonly file: string
  readonly conditionsRemoved: number
  /** The leaks found with row-level security. */
  readonly leaksWithRowLevelSecurity: readonly string[]
  /** The leaks found without row-level security; null if that walk was not requested. */
  readonly leaksWithoutIsolation: readonly string[] | null
}

/** Makes a mutant for each file in `files`, one after the other, and walks through its routes. */
export async function mutationWalk(options: {
  readonly files: readonly string[]
  /** Also walks with row-level security disabled, so that both layers are gone. */
  readonly withoutIsolation: boolean
  /** Makes a database for one walk. */
  readonly makeDatabase: () => Promise<TestDatabase>
  readonly onProgress?: (done: number, of: number, result: MutationResult) => void
  readonly signal?: AbortSignal
}): Promise<MutationResult[]> {
  const { files, withoutIsolation, makeDatabase, onProgress, signal } = options
  const results: MutationResult[] = []
  for (const file of files) {
    if (signal?.aborted === true) break
    const result = await walkMutant(file, makeDatabase, withoutIsolation)
    results.push(result)
    onProgress?.(results.length, files.length, result)
  }
  return results
}

async function walkMutant(
  file: string,
  makeDatabase: () => Promise<TestDatabase>,
  withoutIsolation: boolean,
): Promise<MutationResult> {
  const mutant = makeMutant([file])
  const walk = async (prepare: (database: TestDatabase) => Promise<void>) => {
    const database = await makeDatabase()
    try {
      await prepare(database)
      return await leaksFoundBy(mutant.folder, database)
    } finally {
      await database.drop()
    }
  }
  try {
    return {
      file,
      conditionsRemoved: countTenantConditions(file),
      leaksWithRowLevelSecurity: await walk(async () => {}),
      leaksWithoutIsolation: withoutIsolation ? await walk(disableRowLevelSecurity) : null,
    }
  } finally {
    mutant.remove()
  }
}
