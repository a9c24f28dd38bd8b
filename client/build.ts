import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { clientVersion } from '#client/lanewise.ts'
import { operationsTable } from './operations-table.ts'
import { wireTypes } from './wire-types.ts'

/** Builds the package of the client into `client/dist`, or into the folder that is named, ready to be packed: `npm pack ./client/dist`. */

const here = import.meta.dirname
const root = join(here, '..')
const target = process.argv[2] ?? join(here, 'dist')

await build({
  configFile: false,
  root: here,
  logLevel: 'warn',
  plugins: [operationsTable()],
  build: {
    outDir: target,
    emptyOutDir: true,
    target: 'es2022',
    // Readable in a stack trace; a page's own build makes it small. The comments are in the declarations, where editors look.
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
  `${JSON.stringify({ name: published.name, version: clientVersion, ...published }, null, 2)}\n`,
)

/**
 * The declarations of each file, as the compiler gives them. Those of the wire are written out from the contract instead,
 * and of the contract itself only the errors go along: they need nothing else.
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
    // Older compilers know no kinds of Uint8Array.
    .replaceAll('Uint8Array<ArrayBuffer>', 'Uint8Array')
    .replaceAll(/'#contract\/errors\.ts'/g, "'./errors.js'")
    .replaceAll(/(from |import\()(['"]\.\/[\w-]+)\.ts(['"])/g, '$1$2.js$3')
  writeFileSync(join(target, name), resolved)
}
