import { globSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { tablerIcons } from './dashboard/tabler-icons.ts'

const isInBrowser = (file: string) => file.startsWith('dashboard/tests/')
/** Proofs with long timeouts. `npm run prove` runs their full length. */
const isLongProof = (file: string) =>
  /^proofs\/(bad-input|hostile-fields|hostile-input|mutation-walk|route-walk|concurrency-walk)\.test\.ts$/.test(
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

/** Starts the longest files first: a long file that started last would run alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = ['proofs', 'browser', 'alone', 'database', 'pure']
    const rank = ({ project }: TestSpecification) => order.indexOf(project.name)
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}

/** Tests take seconds. On a machine with twenty busy processes they take minutes: this ends only those that hang. */
const [testTimeout, hookTimeout] = [600_000, 600_000]
/** How long `expect.poll` retries. */
const expectation = { poll: { timeout: 120_000 } }
const setupFiles = ['server/testing/property-seed.ts']

export default defineConfig({
  test: {
    // The tests must pass on two cores. Most files wait for databases and timers about as long as they compute, and browser
    // tests compute all the time, so four files at a time keep two cores busy.
    maxWorkers: 4,
    reporters: ['verbose'],
    // `npm test` and `npm run test:pages` leave these tests out.
    tags: [
      { name: 'long', description: 'Long tests of code that seldom changes. `npm run prove` runs them.' },
      {
        name: 'measure',
        description:
          'Tests of time, speed and memory. `npm run prove` runs them alone; one is missed if it is missed three times.',
        retry: 2,
      },
    ],
    // Loading the service again for each file took a third of the CPU time of all tests.
    isolate: false,
    // Programs that tests start share Node's compile cache: compiling is half the time of a start.
    env: {
      NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
      // On a busy machine, every wait is longer. Tests of deadlines use the usual ones.
      DEADLINE_FACTOR: '30',
    },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // Tests of the pages' wording import the index.ts of their folder, which also exports components with icons.
        plugins: [tablerIcons()],
        test: {
          setupFiles,
          name: 'pure',
          include: tests.filter((file) => isOrdinary(file) && !asksForDatabase(file)),
          testTimeout,
          expect: expectation,
          hookTimeout,
        },
      },
      {
        test: {
          setupFiles,
          name: 'database',
          include: tests.filter((file) => isOrdinary(file) && asksForDatabase(file)),
          // One PostgreSQL serves the whole run; each file clones its own database from a migrated template.
          globalSetup: ['server/testing/database-cluster.ts'],
          testTimeout,
          expect: expectation,
          hookTimeout,
        },
      },
      {
        test: {
          setupFiles,
          name: 'alone',
          include: tests.filter(replacesModules),
          isolate: true,
          globalSetup: ['server/testing/database-cluster.ts'],
          testTimeout,
          expect: expectation,
          hookTimeout,
        },
      },
      {
        test: {
          setupFiles,
          name: 'proofs',
          include: tests.filter(isLongProof),
          globalSetup: ['server/testing/database-cluster.ts'],
          testTimeout,
          expect: expectation,
          hookTimeout,
          // Kills and restarts mostly wait, so three at a time fit on two cores beside other files. With five, a service that
          // started beside four others answered 503 once.
          maxConcurrency: 3,
        },
      },
      {
        test: {
          // Journeys of users through the built dashboard, in a real browser. A retry is printed: (retry x1).
          setupFiles,
          name: 'browser',
          retry: 1,
          include: tests.filter(isInBrowser),
          globalSetup: ['server/testing/database-cluster.ts', 'dashboard/testing/prepare-browser.ts'],
          testTimeout,
          expect: expectation,
          hookTimeout,
          // Four files at a time already use two cores.
          maxConcurrency: 2,
        },
      },
    ],
  },
})
