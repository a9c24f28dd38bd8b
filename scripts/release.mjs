// Makes a release: npm run release -- 1.0.0 [--out FOLDER]. Sets the version in every file that names it, dates the
// changelogs, records the digests of the migrations, commits, tags, and writes the archives with their checksums. Nothing
// is pushed. If a step fails, no file, commit or tag is changed.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import {
  digestOf,
  migrationFaults,
  migrationTexts,
  readReleased,
  releasedFile,
} from '../checks/released-migrations.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** Changelogs with a section "Unreleased" that the release dates. */
const changelogs = ['CHANGELOG.md', 'client/CHANGELOG.md']
/** What stands in a section without changes. */
const nothing = 'Nothing yet.'
const number = /^(\d+)\.(\d+)\.(\d+)$/

class Refusal extends Error {}

try {
  await release()
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stderr.write(`lanewise: ${error.message}\n`)
  process.exitCode = 1
}

async function release() {
  const { next, out } = readArguments()
  const { version: current } = JSON.parse(read('package.json'))
  if (!isAfter(next, current)) throw new Refusal(`${next} is not newer than ${current}.`)
  const tag = `v${next}`
  if (git('status', '--porcelain') !== '') throw new Refusal('There are changes that are not committed.')
  if (git('tag', '--list', tag) !== '') throw new Refusal(`The tag ${tag} exists.`)
  // Otherwise a failed release would delete files that it did not write.
  if (existsSync(out)) throw new Refusal(`${out} exists. Give another folder with --out.`)
  const before = git('rev-parse', 'HEAD')
  const today = new Date().toISOString().slice(0, 10)
  const changed = new Map([
    ...changelogs.map((path) => [path, datedChangelog(path, next, today)]),
    ...filesWithVersion(current, next),
    [releasedFile, frozenMigrations(next)],
  ])
  try {
    for (const [path, text] of changed) writeFileSync(join(root, path), text)
    git('add', '--', ...changed.keys())
    git('commit', '--quiet', '--message', `Release ${next}`)
    git('tag', '--annotate', tag, '--message', `Lanewise ${next}`)
    await writeArchives(tag, next, out)
  } catch (error) {
    git('reset', '--quiet', '--hard', before)
    if (git('tag', '--list', tag) !== '') git('tag', '--delete', tag)
    rmSync(out, { recursive: true, force: true })
    throw error
  }
  process.stdout.write(
    `Released ${next}: commit ${git('rev-parse', '--short', 'HEAD')}, tag ${tag}, files in ${out}.\n` +
      `To publish it: git push --follow-tags, and upload the files.\n`,
  )
}

function readArguments() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { out: { type: 'string' } },
  })
  const [next] = positionals
  if (positionals.length !== 1 || !number.test(next)) {
    throw new Refusal('Give the version of the release: npm run release -- 1.0.0 [--out FOLDER].')
  }
  return { next, out: resolve(root, values.out ?? join('dist', `lanewise-${next}`)) }
}

function isAfter(next, current) {
  const [one, other] = [next, current].map((text) => number.exec(text).slice(1).map(Number))
  const at = one.findIndex((part, index) => part !== other[index])
  return at !== -1 && one[at] > other[at]
}

/** Returns the changelog with "Unreleased" as a dated section, and a new, empty one above it. */
function datedChangelog(path, next, day) {
  const text = read(path)
  const section = /^## Unreleased\n+([\s\S]*?)(?=^## )/m.exec(text)
  if (section === null) throw new Refusal(`${path} has no section "Unreleased".`)
  const isEmpty = section[1].trim() === nothing
  if (isEmpty && path === changelogs[0]) throw new Refusal(`${path} lists no changes under "Unreleased".`)
  const changes = isEmpty ? 'No changes.\n\n' : section[1]
  return text.replace(section[0], () => `## Unreleased\n\n${nothing}\n\n## ${next} (${day})\n\n${changes}`)
}

/** Returns the files that name the current version, with the next one. */
function filesWithVersion(current, next) {
  /** Each file with the texts before the version, one per place. */
  const places = {
    'package.json': ['"version": "'],
    // The second is the package itself in the list of packages.
    'package-lock.json': [
      '{\n  "name": "lanewise",\n  "version": "',
      '"": {\n      "name": "lanewise",\n      "version": "',
    ],
    'client/src/lanewise.ts': ["clientVersion = '"],
    'deploy/container/Dockerfile': ['lanewise:'],
    'deploy/compose/compose.yaml': ['lanewise:'],
    'deploy/kubernetes/kustomization.yaml': ['newTag: '],
    'deploy/kubernetes/migrate/kustomization.yaml': ['newTag: '],
    'docs/deploying.md': ['lanewise:'],
  }
  return Object.entries(places).map(([path, starts]) => {
    let text = read(path)
    for (const start of starts) {
      if (!text.includes(start + current)) throw new Refusal(`${path} does not name ${start}${current}.`)
      text = text.replaceAll(start + current, () => start + next)
    }
    return [path, text]
  })
}

/** Returns the list of released migrations with those that are new in this release. */
function frozenMigrations(next) {
  const text = read(releasedFile)
  const released = readReleased(text)
  const [fault] = migrationFaults(released, migrationTexts())
  if (fault !== undefined) throw new Refusal(fault)
  const added = [...migrationTexts()].filter(([name]) => !released.digests.has(name))
  return [`${text}# ${next}`, ...added.map(([name, sql]) => `${digestOf(sql)}  ${name}`), ''].join('\n')
}

/** Writes the sources, the context of the image, the packages of the client and the command line, and their checksums. */
async function writeArchives(tag, next, out) {
  mkdirSync(out, { recursive: true })
  const sources = `lanewise-${next}.tar.gz`
  const image = `lanewise-${next}-image.tar.gz`
  git('archive', '--format=tar.gz', `--prefix=lanewise-${next}/`, '--output', join(out, sources), tag)
  // The context of an image has no folder around it, and only what .dockerignore lets in.
  const inImage = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path)
  const paths = ['.dockerignore', 'deploy/container', ...inImage]
  git('archive', '--format=tar.gz', '--output', join(out, image), tag, '--', ...paths)
  const packages = ['client', 'cli'].map((name) => {
    run('node', `${name}/build.ts`)
    const packed = JSON.parse(run('npm', 'pack', '--json', '--pack-destination', out, `./${name}/dist`))
    return packed[0].filename
  })
  const sums = []
  for (const name of [sources, image, ...packages]) {
    const digest = createHash('sha256')
    await pipeline(createReadStream(join(out, name)), digest)
    sums.push(`${digest.digest('hex')}  ${name}\n`)
  }
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
}

function read(path) {
  return readFileSync(join(root, path), 'utf8')
}

function run(program, ...given) {
  return execFileSync(program, given, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function git(...given) {
  try {
    return run('git', ...given).trim()
  } catch {
    throw new Refusal(`git ${given[0]} failed.`)
  }
}
