import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root folder of the project. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Folders with installed packages, stored data and build results, which are not part of the project. */
const excluded = /(^|\/)(node_modules|\.git|data|dist|coverage)(\/|$)/

/** Returns the sorted paths of all project files that match a pattern, relative to the root. */
export function filesOf(...patterns: string[]): string[] {
  return patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root, exclude: (path) => excluded.test(path) }))
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
}

export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** Returns all TypeScript and JavaScript files, including tests. */
export function sourceFiles(): string[] {
  return filesOf(
    '{contract,engine,geography,server,client,cli,evaluation,checks,dashboard,proofs,bench}/**/*.{ts,tsx}',
    '{scripts,deploy/*}/*.mjs',
    '*.ts',
  )
}

/** Returns the files that run in production, without tests and test helpers. */
export function shippedFiles(): string[] {
  return filesOf(
    '{contract,engine,geography,server,client,cli,evaluation,dashboard}/src/**/*.{ts,tsx}',
  ).filter((path) => !path.endsWith('.test.ts'))
}

/** Returns code without comments, so that words in comments do not count as calls. */
export function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|[^:'"])\/\/.*$/gm, '$1')
}

/**
 * Returns the resolved imports of a file: a path in this project (`engine/src/money.ts`), `node:fs`, or the name of a package.
 */
export function importsOf(path: string): string[] {
  const code = withoutComments(textOf(path))
  const specifiers = [...code.matchAll(/(?:^import|^export|^\}| from|import\() ?'([^'\n]+)'/gm)].flatMap(
    (match) => match[1] ?? [],
  )
  return specifiers.map((specifier) => resolved(specifier, path))
}

function resolved(specifier: string, from: string): string {
  if (specifier.startsWith('.')) return posix.normalize(posix.join(posix.dirname(from), specifier))
  if (specifier.startsWith('#')) return throughPackageImports(specifier)
  if (isBuiltin(specifier)) return specifier.startsWith('node:') ? specifier : `node:${specifier}`
  const [scopeOrName = '', name] = specifier.split('/')
  return scopeOrName.startsWith('@') ? `${scopeOrName}/${name}` : scopeOrName
}

const packageImports = Object.entries(
  (JSON.parse(textOf('package.json')) as { imports: Record<string, string> }).imports,
)

function throughPackageImports(specifier: string): string {
  for (const [from, to] of packageImports) {
    const prefix = from.replace('*', '')
    if (specifier.startsWith(prefix)) {
      return posix.normalize(to.replace('*', specifier.slice(prefix.length)))
    }
  }
  throw new Error(`package.json does not define the import ${specifier}.`)
}

/** Rooms whose files are in subfolders by subject. A subfolder has no index.ts: it is part of its room. */
const roomsWithSubjects = ['server/src/endpoints', 'server/src/database/queries']

/**
 * The folder of a file below the root of its tree; empty for the files next to the folders.
 * @example folderOf('server/src/', 'server/src/endpoints/pricing/markup.ts') // 'endpoints'
 */
export function folderOf(root: string, path: string): string {
  const folder = dirname(path)
  const room = roomsWithSubjects.find((name) => folder.startsWith(`${name}/`)) ?? folder
  return `${room}/`.slice(root.length).replace(/\/$/, '')
}
