import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const folder = import.meta.dirname
const imported = /import \{([^}]*)\} from '@mantine\/core'/g

test('each Mantine component that a page uses has its styles: without them, it is drawn as plain text', () => {
  const used = new Set(
    globSync('**/*.tsx', { cwd: folder }).flatMap((file) =>
      Array.from(readFileSync(join(folder, file), 'utf8').matchAll(imported), ([, names = '']) =>
        names.split(',').map((name) => name.replace('type ', '').trim()),
      ).flat(),
    ),
  )
  const styles = (name: string) => `@mantine/core/styles/${name}.css`
  const loaded = readFileSync(join(folder, 'styles.ts'), 'utf8')
  const missing = [...used].filter(
    (name) =>
      existsSync(join(folder, '../../node_modules', styles(name))) && !loaded.includes(`'${styles(name)}'`),
  )
  expect(used.size).toBeGreaterThan(40)
  expect(missing).toEqual([])
})
