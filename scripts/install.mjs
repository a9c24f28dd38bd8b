// Ensures that node_modules matches package-lock.json, including Node 24 and PostgreSQL. scripts/run.sh runs it before
// each command, on the machine's own Node (20 or newer), so it is plain JavaScript without packages. If nothing is
// missing, it takes a few milliseconds.
// --without-tools installs only what the service, the build of the dashboard and the command line need. The tools of
// tests and checks are added when a script first needs them, without removing anything: a service may be running.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, sep } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const nodeWanted = 24
const withoutTools = process.argv.includes('--without-tools')
// The end of the note of an install without tools.
const toolsMissing = ' without tools'
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const note = join(modules, '.lanewise-install')
// npm writes this list of installed packages last: after an interrupted install it is missing.
const npmsList = join(modules, '.package-lock.json')
const ownNode = join(modules, '.bin', 'node')
const lock = join(root, '.install-lock')
// A lock that was not touched for this long is stale: its holder, which touches it every 2 s, was killed.
const staleMilliseconds = 15_000
// Limits npm's retries, so that a machine without a network gets an error within half a minute.
const quickTries = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000']
const npmOptions = ['--ignore-scripts', '--no-audit', '--no-fund', '--include=optional']
const networkCodes =
  /^(ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET|EPROTO|EIDLETIMEOUT)/

const diskFull = `the disk of ${root} is full. About 1.2 GB is needed: free some, then run this again.`

class Refusal extends Error {}

try {
  refuseStrangeMachines()
  if (!isInstalled()) await installOnce()
} catch (error) {
  // A file that cannot be read or written has a code. Anything else is a fault of this script.
  if (!(error instanceof Refusal) && error.code === undefined) throw error
  const reason = error instanceof Refusal ? error.message : `cannot install: ${reasonOf(error)}`
  process.stderr.write(`lanewise: ${reason}\n`)
  process.exitCode = 1
}

function refuseStrangeMachines() {
  if (major(process.version) < 20) {
    throw new Refusal(
      `Node ${process.version} is too old for the installation. Node 20 or newer is required.`,
    )
  }
  if (process.platform === 'linux' && !existsSync(note) && isMusl()) {
    throw new Refusal(
      'The Node 24 and PostgreSQL packages require glibc, but this Linux (Alpine?) uses musl. Use a Debian-based system.',
    )
  }
}

function isMusl() {
  process.report.excludeNetwork = true
  return process.report.getReport().header.glibcVersionRuntime === undefined
}

function major(version) {
  return Number(version.replace(/^v/, '').split('.')[0])
}

/**
 * Whether an earlier run's note is current. If npm itself installed the packages correctly, the note is written now.
 */
function isInstalled() {
  const noted = readNote()
  if (noted !== null && nodeIsThere()) {
    const found = fingerprint()
    if (noted === found || (withoutTools && noted === `${found}${toolsMissing}`)) return true
  }
  if (!npmInstalledTheLock()) return false
  checkNode()
  writeNote()
  return true
}

/** Returns the note of the last install; null if there is none, or nothing is installed. */
function readNote() {
  return existsSync(note) && existsSync(npmsList) ? readFileSync(note, 'utf8') : null
}

/** A hash that changes with the lock file, with the dependencies in package.json, and with every run of npm. */
function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  const asked = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { dependencies, devDependencies, optionalDependencies, overrides } = asked
  hash.update(JSON.stringify([dependencies, devDependencies, optionalDependencies, overrides]))
  const { mtimeMs, size } = statSync(npmsList)
  return hash.update(`${process.platform} ${process.arch} ${mtimeMs} ${size}`).digest('hex')
}

function writeNote() {
  const unfinished = `${note}.${process.pid}`
  const isWhole = firstDifference({ withTools: true }) === undefined
  writeFileSync(unfinished, `${fingerprint()}${isWhole ? '' : toolsMissing}`)
  renameSync(unfinished, note)
}

function nodeIsThere() {
  return existsSync(ownNode) || major(process.version) >= nodeWanted
}

/** The dependencies in package.json, and the resolved packages in the lock file. */
function readRequest() {
  const asked = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { packages: wanted } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return { asked, wanted }
}

function agree(asked, wanted) {
  return ['dependencies', 'devDependencies', 'optionalDependencies'].every(
    (kind) => JSON.stringify(sorted(asked[kind])) === JSON.stringify(sorted(wanted['']?.[kind])),
  )
}

function npmInstalledTheLock() {
  if (!existsSync(npmsList)) return false
  const { asked, wanted } = readRequest()
  return agree(asked, wanted) && firstDifference({ withTools: !withoutTools }) === undefined
}

/** The first difference between npm's list and the lock file. Optional packages for other systems may be missing. */
function firstDifference({ withTools }) {
  const { wanted } = readRequest()
  const { packages: found } = JSON.parse(readFileSync(npmsList, 'utf8'))
  const differs = Object.entries(wanted).find(([path, entry]) => {
    if (!path.startsWith('node_modules/') || entry.link || (entry.dev && !withTools)) return false
    const there = found[path]
    if (there === undefined) return entry.optional !== true || isForThisMachine(entry)
    return (
      there.version !== entry.version ||
      there.integrity !== entry.integrity ||
      !existsSync(join(root, path, 'package.json'))
    )
  })
  return differs?.[0]
}

function sorted(record = {}) {
  return Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1))
}

function isForThisMachine({ os, cpu, libc }) {
  if (os === undefined && cpu === undefined) return false
  const allows = (list, name) => list === undefined || list.includes(name)
  return allows(os, process.platform) && allows(cpu, process.arch) && allows(libc, 'glibc')
}

/**
 * Installs under a lock, because concurrent installs would delete each other's files. A second one waits, then skips.
 */
async function installOnce() {
  await takeLock()
  const heartbeat = setInterval(() => touchLock(), 2_000)
  try {
    if (isInstalled()) return
    await install()
    checkNode()
    writeNote()
  } finally {
    clearInterval(heartbeat)
    rmSync(lock, { force: true })
  }
}

async function takeLock() {
  const mine = `${process.pid} ${performance.timeOrigin}`
  let hasReported = false
  for (;;) {
    try {
      writeFileSync(lock, mine, { flag: 'wx' })
      // Another process that found the same stale lock may have removed the new lock, so check again after a delay.
      await delay(100)
      if (existsSync(lock) && readFileSync(lock, 'utf8') === mine) return
    } catch (error) {
      if (error.code !== 'EEXIST' && error.code !== 'ENOENT') {
        throw error
      }
    }
    const touched = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - touched > staleMilliseconds) rmSync(lock, { force: true })
    if (!hasReported) say('waiting for another install of this clone')
    hasReported = true
    await delay(300)
  }
}

function touchLock() {
  try {
    utimesSync(lock, new Date(), new Date())
  } catch {
    // The lock was removed manually.
  }
}

/** Installs exactly the packages in the lock file into an empty node_modules. */
async function install() {
  await refuseWithoutRegistry(Object.entries(readRequest().asked.dependencies)[0])
  const noted = readNote()
  const addsTools = !withoutTools && noted !== null && noted === `${fingerprint()}${toolsMissing}`
  // Note and list are removed first, so that an interrupted install does not look complete.
  rmSync(note, { force: true })
  if (!addsTools) rmSync(npmsList, { force: true })
  const size = withoutTools ? '430 MB' : addsTools ? '330 MB more' : '760 MB'
  say(`installing packages from the npm registry (about ${size} on disk; only once) ...`)
  const started = performance.now()
  const seconds = () => Math.round((performance.now() - started) / 1_000)
  const ticker = setInterval(() => say(`... still installing, ${seconds()} s`), 10_000)
  const { code, output } = await runNpm(
    // `ci` first removes all packages, also those of a running service.
    [
      ...(addsTools ? ['install', '--no-save'] : ['ci']),
      withoutTools ? '--omit=dev' : '--include=dev',
      ...npmOptions,
    ],
    quickTries,
  )
  clearInterval(ticker)
  if (code !== 0) throw new Refusal(`installing failed: ${explain(output)}`)
  // 67 MB of C headers, which nothing here compiles against.
  rmSync(join(modules, `node-${process.platform}-${process.arch}`, 'include'), {
    recursive: true,
    force: true,
  })
  say(`installed in ${seconds()} s`)
}

/** Tests the registry with one small request. Without a network, npm would try each of about 300 packages. */
async function refuseWithoutRegistry([name, version]) {
  const { code, output } = await runNpm(
    ['view', `${name}@${version}`, 'version', '--fetch-timeout=15000'],
    quickTries,
  )
  if (code !== 0 && networkCodes.test(errorCode(output) ?? '')) {
    throw new Refusal(`installing failed: ${explain(output)}`)
  }
}

/** Runs the current npm on the machine's Node, not on the Node in node_modules, because `npm ci` deletes the latter. */
function runNpm(...options) {
  const { npm_execpath: npm, npm_node_execpath: node, PATH = '' } = process.env
  const path = PATH.split(delimiter).filter((folder) => !folder.startsWith(modules + sep))
  const [command, first] = npm && node && !node.startsWith(modules + sep) ? [node, [npm]] : ['npm', []]
  return new Promise((resolve) => {
    const child = spawn(command, [...first, ...options.flat(), '--loglevel=error'], {
      cwd: root,
      env: { ...process.env, PATH: path.join(delimiter) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }
    child.once('error', (error) => resolve({ code: 1, output: `npm error ${command}: ${error.message}` }))
    child.once('close', (code) => resolve({ code, output }))
  })
}

/** Reduces npm's output to one line, with an explanation for known errors. */
function explain(output) {
  const code = errorCode(output)
  if (networkCodes.test(code ?? '')) {
    return `the npm registry cannot be reached (${code}). The first start needs it for the packages: check the network, any proxy, and "registry" in .npmrc, then run this again.`
  }
  if (code === 'ENOSPC') return diskFull
  const errors = output.split('\n').flatMap((line) => /^npm (?:error|ERR!) (.+)$/.exec(line)?.[1] ?? [])
  const first = errors.find((line) => !/^(code|errno|syscall|A complete log)/.test(line))
  return `${(first ?? output.trim().split('\n').pop() ?? '').trim()} (${code ?? 'npm gave no code'})`
}

function reasonOf({ code, path, message }) {
  if (code === 'ENOSPC') return diskFull
  if (/^(EACCES|EPERM|EROFS)$/.test(code))
    return `no write access to ${path ?? root} (${code}). Run this as the user who owns ${root}.`
  return `${message}. Remove ${modules} and run this again.`
}

function errorCode(output) {
  return /^npm (?:error|ERR!) code (\S+)$/m.exec(output)?.[1]
}

/** On Linux, the packages include Node 24. On other systems the machine's own Node must be new enough. */
function checkNode() {
  const version = existsSync(ownNode)
    ? spawnSync(ownNode, ['--version'], { encoding: 'utf8' }).stdout?.trim() || 'a Node that does not start'
    : process.version
  if (major(version) >= nodeWanted) return
  throw new Refusal(
    `Node ${nodeWanted} or newer is required, but this is ${version}. Install Node ${nodeWanted} and run this again.`,
  )
}

function say(line) {
  process.stderr.write(`lanewise: ${line}\n`)
}
