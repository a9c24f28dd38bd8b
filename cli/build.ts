import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { clientVersion } from '#client/lanewise.ts'
import { revision } from '#server/runtime/index.ts'
import { operationsTable } from '../client/operations-table.ts'

/**
 * Bundles the command line into one file in `cli/dist`, or in the folder given as argument, ready for `npm pack
 * ./cli/dist`.
 */

const here = import.meta.dirname
const root = join(here, '..')
const target = process.argv[2] ?? join(here, 'dist')
const program = join(target, 'lanewise.js')

const bundled = new Set<string>()
await build({
  configFile: false,
  root: here,
  logLevel: 'warn',
  plugins: [
    operationsTable(),
    {
      name: 'bundled-packages',
      moduleParsed({ id }) {
        const found = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1]
        if (found !== undefined) bundled.add(found)
      },
    },
  ],
  define: { builtFromCommit: JSON.stringify(revision) },
  ssr: { noExternal: true, target: 'node' },
  build: {
    outDir: target,
    emptyOutDir: true,
    target: 'node20',
    minify: false,
    ssr: join(here, 'src', 'lanewise-main.ts'),
    rolldownOptions: { output: { entryFileNames: 'lanewise.js', codeSplitting: false } },
  },
})
writeFileSync(program, `#!/usr/bin/env node\n${readFileSync(program, 'utf8')}`)
chmodSync(program, 0o755)
cpSync(join(here, 'README.md'), join(target, 'README.md'))
cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
writeFileSync(join(target, 'LICENSES-OF-PARTS'), [...bundled].sort().map(licenseOf).join('\n\n'))
const published = JSON.parse(readFileSync(join(here, 'published-package.json'), 'utf8'))
writeFileSync(
  join(target, 'package.json'),
  `${JSON.stringify({ name: published.name, version: clientVersion, gitHead: revision, ...published }, null, 2)}\n`,
)

/** The license text of a bundled package, which must be distributed with every copy. */
function licenseOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
  if (file === undefined) throw new Error(`${name} has no license file.`)
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}`
}
