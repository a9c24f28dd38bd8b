import { describe, expect, test } from 'vitest'
import {
  migrationDigests,
  migrationFaults,
  releasedDigests,
  releasedFile,
  withNewMigrations,
} from './released-migrations.ts'
import { textOf } from './repository.ts'

const list = textOf(releasedFile)
const here = migrationDigests()

test('every migration is as its digest says', () => {
  expect(here.size).toBeGreaterThan(20)
  expect(migrationFaults(releasedDigests(list), here)).toEqual([])
})

describe('a migration that databases have run', () => {
  test('is named when it was changed', () => {
    const changed = new Map([...here, ['0003-people.sql', '0'.repeat(64)]])
    expect(migrationFaults(releasedDigests(list), changed)).toEqual([
      expect.stringMatching(/^0003-people\.sql was changed\./),
    ])
  })

  test('is named when it was removed or renamed', () => {
    const renamed = new Map([...here].map(([name, digest]) => [name.replace('-people', '-users'), digest]))
    expect(migrationFaults(releasedDigests(list), renamed)).toEqual([
      expect.stringMatching(/^0003-people\.sql was removed\./),
      expect.stringMatching(/^0003-users\.sql is not in .*npm run schema/),
    ])
  })
})

describe('npm run schema', () => {
  test('appends a new migration to the list, and changes no line of it', () => {
    const more = new Map([...here, ['9999-new.sql', 'f'.repeat(64)], ['0003-people.sql', '0'.repeat(64)]])
    expect(withNewMigrations(list, more)).toBe(`${list}${'f'.repeat(64)}  9999-new.sql\n`)
  })
})
