import { globSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { tablerIcons } from './dashboard/tabler-icons.ts'

/** Tests that take long and guard what seldom changes: `npm run prove` runs them, `npm test` does not. */
const isForProve = (file: string) => file.endsWith('.long.test.ts')
const isInBrowser = (file: string) => file.startsWith('dashboard/tests/') && !isForProve(file)
/** Proofs that take long, and whose services are given long to answer. `npm run prove` is their long form. */
const isLongProof = (file: string) =>
  /^proofs\/(crash-safety|hostile-fields|hostile-input|mutation-walk|route-walk|concurrency-walk)\.test\.ts$/.test(
    file,
  )
const tests = globSync(
  '{contract,engine,geography,server,client,cli,evaluation,checks,dashboard,proofs,bench}/**/*.test.ts',
)
/** Tests that ask for a database or the whole service say so in their imports; the others wait for neither. */
const asksForDatabase = (file: string) => /from '(#testing\/|\.\/test-)/.test(readFileSync(file, 'utf8'))
/** Tests that put something else in the place of a module: whoever shared it with them would get that, too. */
const replacesModules = (file: string) => /\bvi\.mock\(/.test(readFileSync(file, 'utf8'))
const isOrdinary = (file: string) =>
  !isInBrowser(file) && !isLongProof(file) && !replacesModules(file) && !isForProve(file)

/**
 * What takes longest comes first: begun last, all the others would be waited for and then it alone. Crashes wait for
 * processes most of the time, so others compute beside them.
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

/** Tests end within seconds. On a machine that others fill as well, a program that one starts may take half a minute. */
const testTimeout = 60_000
/** What is looked at again and again until it is so. */
const expectation = { poll: { timeout: 15_000 } }

export default defineConfig({
  test: {
    // Two cores are the smallest machine this must pass on. Databases and time to pass are waited for about as long as
    // anything computes; beside them pages are drawn, which computes all the time: so many at a time fill the gaps.
    maxWorkers: 4,
    reporters: ['verbose'],
    // To load the service anew for each file took a third of the processor time of all tests.
    isolate: false,
    // Programs that tests start find what Node compiled of the service before: half the time of a start goes into that.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // The wording of pages is entered through the same first files as their components.
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
          // Kills, restarts and slow callers wait most of the time: so many at a time are enough for two cores.
          maxConcurrency: 5,
        },
      },
      {
        test: {
          // People's journeys through the built dashboard, in a real browser.
          name: 'browser',
          include: tests.filter(isInBrowser),
          globalSetup: ['server/testing/database-cluster.ts', 'dashboard/testing/prepare-browser.ts'],
          // The longest walks through a page take 50 s while everything else runs.
          testTimeout: 120_000,
          expect: expectation,
          hookTimeout: 120_000,
          // Four files at a time share two cores already.
          maxConcurrency: 2,
        },
      },
      {
        test: {
          name: 'long',
          include: tests.filter(isForProve),
          globalSetup: ['server/testing/database-cluster.ts', 'dashboard/testing/prepare-browser.ts'],
          testTimeout: 120_000,
          expect: expectation,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
