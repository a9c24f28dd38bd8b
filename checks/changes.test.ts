import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tableRows } from './page.ts'
import { folderOf, importsOf, root, shippedFiles, textOf } from './repository.ts'

const guide = textOf('CONTRIBUTING.md')
const changes = [...guide.matchAll(/^### (.+: (\d+) files)$/gm)].map(([, heading = '', count]) => {
  const files = tableRows('CONTRIBUTING.md', heading)
  return { heading, count: Number(count), files }
})

test('CONTRIBUTING lists the files of seven changes', () => {
  expect(changes).toHaveLength(7)
})

describe.each(changes)('the change "$heading"', ({ count, files }) => {
  test('lists as many files as its heading says, each once', () => {
    expect(new Set(files.map(([file]) => file)).size).toBe(count)
    expect(files).toHaveLength(count)
  })

  test.each(files)('%s contains %s', (file = '', code = '') => {
    expect(existsSync(join(root, file)) && textOf(file).includes(code)).toBe(true)
  })
})

describe('the table of server folders in ARCHITECTURE', () => {
  const server = 'server/src/'
  const room = (path: string) => folderOf(server, path)
  const files = shippedFiles().filter((path) => path.startsWith(server) && room(path) !== '')
  const rows = tableRows('ARCHITECTURE.md', 'The folders of the server')

  test('lists every folder, each after the folders that it imports', () => {
    const listed = rows.map(([folder]) => folder)
    expect(listed.toSorted()).toEqual([...new Set(files.map(room))].toSorted())
    const names = listed.map((folder = '') => basename(folder))
    const backwards = rows.filter(([, , imports = ''], at) =>
      imports.split(', ').some((name) => names.indexOf(name) >= at),
    )
    expect(backwards).toEqual([])
  })

  test.each(rows)('%s (%s) imports: %s', (folder, _purpose, imports = '') => {
    const used = files
      .filter((path) => room(path) === folder)
      .flatMap(importsOf)
      .filter((path) => path.startsWith(server) && room(path) !== folder)
      .map((path) => basename(room(path)))
    const stated = imports === '' ? [] : imports.split(', ')
    expect(stated.toSorted()).toEqual([...new Set(used)].toSorted())
  })
})
