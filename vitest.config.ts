import { globSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { tablerIcons } from './dashboard/tabler-icons.ts'

const isInBrowser = (file: string) => file.startsWith('dashboard/tests/')
/** Proofs with long timeouts. `npm run prove` runs their full length. */
const isLongProof = (file: string) =>
  /^proofs\/(bad-input|crash-safety|heavy-requests|hostile-fields|hostile-input|mutation-walk|route-walk|concurrency-walk)\.test\.ts$/.test(
    file,
  )
const tests = globSync(
  '{contract,engine,geography,server,client,cli,evaluation,checks,dashboard,proofs,bench}/**/*.test.ts',
)
/** Tests that need a database or the service import these helpers. The other tests do not wait for a database. */
const asksForDatabase = (file: string) =>
  /from '(#testing\/(?!thread-time)|\.\/test-)/.test(readFileSync(file, 'utf8'))
/** Tests that mock a module. They run isolated: files that share a process also share its modules. */
const replacesModules = (file: string) => /\bvi\.mock\(/.test(readFileSync(file, 'utf8'))
const isOrdinary = (file: string) => !isInBrowser(file) && !isLongProof(file) && !replacesModules(file)

/**
 * Starts the longest files first: a long file that started last would run alone at the end. The crash tests are the very
 * first, because they mostly wait for processes, so other files compute meanwhile.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = ['proofs', 'browser', 'alone', 'database', 'pure']
    const rank = ({ moduleId, project }: TestSpecification) =>
      moduleId.endsWith('/proofs/crash-safety.test.ts') ? -1 : order.indexOf(project.name)
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}

/** Tests take seconds. On a busy machine, a program that a test starts may need half a minute. */
const testTimeout = 60_000
/** How long `expect.poll` retries. */
const expectation = { poll: { timeout: 15_000 } }

export default defineConfig({
  test: {
    // The tests must pass on two cores. Most files wait for databases and timers about as long as they compute, and browser
    // tests compute all the time, so four files at a time keep two cores busy.
    maxWorkers: 4,
    reporters: ['verbose'],
    // `npm test` must end within 7 minutes on two cores, so it leaves these tests out.
    tags: [
      { name: 'long', description: 'Long tests of code that seldom changes. `npm run prove` runs them.' },
    ],
    // Loading the service again for each file took a third of the CPU time of all tests.
    isolate: false,
    // Programs that tests start share Node's compile cache: compiling is half the time of a start.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // Tests of the pages' wording import the index.ts of their folder, which also exports components with icons.
        plugins: [tablerIcons()],
        test: {
          name: 'pure',
          include: tests.filter((file) => isOrdinary(file) && !asksForDatabase(file)),
          testTimeout,
          expect: expectation,
        },
      },
      {
        test: {
          name: 'database',
          include: tests.filter((file) => isOrdinary(file) && asksForDatabase(file)),
          // One PostgreSQL serves the whole run; each file clones its own database from a migrated template.
          globalSetup: ['server/testing/database-cluster.ts'],
          testTimeout,
          expect: expectation,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'alone',
          include: tests.filter(replacesModules),
          isolate: true,
          globalSetup: ['server/testing/database-cluster.ts'],
          testTimeout,
          expect: expectation,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'proofs',
          include: tests.filter(isLongProof),
          globalSetup: ['server/testing/database-cluster.ts'],
          testTimeout: 120_000,
          expect: expectation,
          hookTimeout: 120_000,
          // Kills and restarts mostly wait, so three at a time fit on two cores beside other files. With five, a service that
          // started beside four others answered 503 once.
          maxConcurrency: 3,
        },
      },
      {
        test: {
          // Journeys of users through the built dashboard, in a real browser.
          name: 'browser',
          include: tests.filter(isInBrowser),
          globalSetup: ['server/testing/database-cluster.ts', 'dashboard/testing/prepare-browser.ts'],
          // The longest test of a page takes 50 s while the other projects run.
          testTimeout: 120_000,
          expect: expectation,
          hookTimeout: 120_000,
          // Four files at a time already use two cores.
          maxConcurrency: 2,
        },
      },
    ],
  },
})
