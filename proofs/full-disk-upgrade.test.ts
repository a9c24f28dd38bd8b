import { execFile } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { expect, test } from 'vitest'
import { migrationNames } from '#server/database/schema/index.ts'
import { allRows, keptRows } from '#testing/kept-rows.ts'
import { fill, smallDisk } from './full-disk.ts'
import { type OwnPostgres, ownPostgres } from './own-postgres.ts'

/**
 * Promise: a disk that fills during `npm run migrate` leaves nothing of the migration that failed, and the command says so in one line.
 * When there is room again, the same command completes the upgrade, with every row.
 *
 * How: a database of 69d4e95d in a small file system in memory, which needs root.
 */

const run = promisify(execFile)
const dumpFile = 'server/testing/earlier-databases/69d4e95d.sql.gz'

async function migrated(postgres: OwnPostgres): Promise<{ code: number; said: string }> {
  const env = { ...process.env, MIGRATION_DATABASE_URL: postgres.url('owner') }
  try {
    const { stdout } = await run(process.execPath, ['server/src/operations/migrate-main.ts'], { env })
    return { code: 0, said: stdout }
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string }
    return { code, said: stderr }
  }
}

test('a disk that fills during an upgrade loses no row, and the upgrade can be repeated', {
  tags: 'long',
  timeout: 120_000,
}, async ({ skip }) => {
  const disk = await smallDisk()
  if (disk === null) return skip('mounting a small disk requires root')
  const ballast: string[] = []
  let postgres: OwnPostgres | null = null
  try {
    postgres = await ownPostgres(join(disk.folder, 'data'))
    const owner = new pg.Client(postgres.url('owner'))
    await owner.connect()
    await owner.query(`set check_function_bodies = off; ${gunzipSync(readFileSync(dumpFile)).toString()}`)
    await owner.end()
    const before = await allRows(postgres.url('superuser'))
    expect([...before.values()].flat().length).toBeGreaterThan(100)
    fill(disk.folder, ballast, { leave: 16 * 1024 })
    const { code, said } = await migrated(postgres)
    expect(code).toBe(1)
    expect(said.trim()).toMatch(/^[^\n]*(No space left on device|connection)[^\n]*$/i)
    expect(said).not.toMatch(/^\s+at /m)
    for (const path of ballast.splice(0)) rmSync(path)
    // PostgreSQL itself ends if its log is what finds no room.
    await postgres.stop('immediate')
    await postgres.start()
    const names = await migrationNames()
    const appliedIn = async ({ ask }: OwnPostgres) =>
      (await ask<{ name: string }>('select name from schema_migrations order by name')).map(
        ({ name }) => name,
      )
    const applied = await appliedIn(postgres)
    expect(applied.length).toBeLessThan(names.length)
    expect(applied).toEqual(names.slice(0, applied.length))
    expect(await migrated(postgres)).toMatchObject({ code: 0, said: expect.stringContaining('up to date') })
    expect(await appliedIn(postgres)).toEqual(names)
    expect(keptRows(before, await allRows(postgres.url('superuser'))).faults).toEqual([])
  } finally {
    for (const path of ballast) rmSync(path, { force: true })
    await postgres?.remove()
    await disk.remove()
  }
})
