import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the project, whatever the working folder is. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Never part of the project: what was installed, what was stored, what was made. */
const notOurs = /(^|\/)(node_modules|\.git|data|dist|coverage)(\/|$)/

/** The paths of all files of the project that fit one of the patterns, relative to its folder, sorted. */
export function filesOf(...patterns: string[]): string[] {
  return patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root, exclude: (path) => notOurs.test(path) }))
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
}

export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** TypeScript and JavaScript as it stands, tests included. */
export function sourceFiles(): string[] {
  return filesOf(
    '{contract,engine,geography,server,client,cli,evaluation,checks,dashboard,proofs,bench}/**/*.{ts,tsx}',
    '{scripts,deploy/*}/*.mjs',
    '*.ts',
  )
}

/** What runs in production: no tests, and nothing that only tests use. */
export function shippedFiles(): string[] {
  return filesOf(
    '{contract,engine,geography,server,client,cli,evaluation,dashboard}/src/**/*.{ts,tsx}',
  ).filter((path) => !path.endsWith('.test.ts'))
}

/** Code without its comments, so that a word in a sentence is not taken for a call. */
export function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|[^:'"])\/\/.*$/gm, '$1')
}

/**
 * What a file imports, each resolved: a path of this project (`engine/src/money.ts`), `node:fs`, or the name of a
 * package.
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
  throw new Error(`package.json does not say what ${specifier} is.`)
}

/** The collection for Postman, made from the contract. */
export const postmanFile = 'recipes/lanewise.postman_collection.json'
