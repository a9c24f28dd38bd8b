import { createHash } from 'node:crypto'
import { filesOf, textOf } from './repository.ts'

const folder = 'server/src/database/schema/migrations'

/** The digests of the migrations, as `sha256sum` prints them: databases have run these files. */
export const releasedFile = 'server/src/database/schema/released-migrations.txt'

/** The digests of the migrations in the folder, by name. */
export function migrationDigests(): ReadonlyMap<string, string> {
  return new Map(
    filesOf(`${folder}/*.sql`).map((path) => [
      path.slice(folder.length + 1),
      createHash('sha256').update(textOf(path)).digest('hex'),
    ]),
  )
}

/** The digests in the list, by name. */
export function releasedDigests(text: string): ReadonlyMap<string, string> {
  return new Map(
    text
      .trimEnd()
      .split('\n')
      .map((line): [string, string] => {
        const [digest = '', name = ''] = line.split('  ')
        return [name, digest]
      }),
  )
}

/** What is wrong with the migrations: one line for each that was changed, removed, or is not in the list. */
export function migrationFaults(
  released: ReadonlyMap<string, string>,
  here: ReadonlyMap<string, string>,
): string[] {
  return [
    ...[...released].flatMap(([name, digest]) => {
      const found = here.get(name)
      if (found === digest) return []
      const what = found === undefined ? 'was removed' : 'was changed'
      return [`${name} ${what}. Databases have run it: restore it, and write a new migration.`]
    }),
    ...[...here.keys()]
      .filter((name) => !released.has(name))
      .map((name) => `${name} is not in ${releasedFile}: run "npm run schema".`),
  ]
}

/** The list with the new migrations at its end. What it has stays as it is. */
export function withNewMigrations(text: string, here: ReadonlyMap<string, string>): string {
  const released = releasedDigests(text)
  const added = [...here].filter(([name]) => !released.has(name))
  return `${text}${added.map(([name, digest]) => `${digest}  ${name}\n`).join('')}`
}
