import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { clientVersion } from '#client/lanewise.ts'
import { revision } from '#server/runtime/index.ts'
import { operationsTable } from './operations-table.ts'
import { wireTypes } from './wire-types.ts'

/**
 * Builds the client package into `client/dist`, or into the folder given as argument, ready for `npm pack
 * ./client/dist`.
 */

const here = import.meta.dirname
const root = join(here, '..')
const target = process.argv[2] ?? join(here, 'dist')

await build({
  configFile: false,
  root: here,
  logLevel: 'warn',
  define: { builtFromCommit: JSON.stringify(revision) },
  plugins: [operationsTable()],
  build: {
    outDir: target,
    emptyOutDir: true,
    target: 'es2022',
    // Not minified, for readable stack traces; a web page's own build minifies it. Editors read comments from the
    // declarations.
    minify: false,
    rolldownOptions: { output: { comments: false } },
    lib: { entry: join(here, 'src', 'index.ts'), formats: ['es'], fileName: () => 'index.js' },
  },
})
declareTypes()
for (const file of ['README.md', 'CHANGELOG.md']) cpSync(join(here, file), join(target, file))
cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
const published = JSON.parse(readFileSync(join(here, 'published-package.json'), 'utf8'))
writeFileSync(
  join(target, 'package.json'),
  `${JSON.stringify({ name: published.name, version: clientVersion, gitHead: revision, ...published }, null, 2)}\n`,
)

/**
 * Writes the type declarations that the compiler generates. The types of `wire.ts` are generated from the contract's
 * schemas instead. From the contract, only the errors are included.
 */
function declareTypes(): void {
  const folder = mkdtempSync(join(target, 'types-'))
  execFileSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(here, 'tsconfig.json'), '--outDir', folder],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  )
  const sources = join(folder, 'client', 'src')
  const files = readdirSync(sources).filter((name) => !/^(wire|operations)\.d\.ts$/.test(name))
  for (const name of files) writeDeclaration(name, readFileSync(join(sources, name), 'utf8'))
  writeDeclaration('wire.d.ts', wireTypes())
  writeDeclaration('errors.d.ts', readFileSync(join(folder, 'contract', 'src', 'errors.d.ts'), 'utf8'))
  rmSync(folder, { recursive: true })
}

function writeDeclaration(name: string, text: string): void {
  const resolved = text
    // Older compilers do not support a type argument of Uint8Array.
    .replaceAll('Uint8Array<ArrayBuffer>', 'Uint8Array')
    .replaceAll(/'#contract\/errors\.ts'/g, "'./errors.js'")
    .replaceAll(/(from |import\()(['"]\.\/[\w-]+)\.ts(['"])/g, '$1$2.js$3')
  writeFileSync(join(target, name), resolved)
}
