import { globSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { tablerIcons } from './dashboard/tabler-icons.ts'

/** Playwright runs `dashboard/tests`: see playwright.config.ts. */
const tests = globSync(
  '{contract,engine,geography,server,client,cli,evaluation,checks,dashboard/{src,testing},proofs,bench}/**/*.test.ts',
)
/** Tests that need a database or the service import these helpers. The other tests do not wait for a database. */
const asksForDatabase = (file: string) =>
  /from '(#testing\/(?!thread-time)|\.\/test-)/.test(readFileSync(file, 'utf8'))
/** Tests that mock a module. They run isolated: files that share a process also share its modules. */
const replacesModules = (file: string) => /\bvi\.mock\(/.test(readFileSync(file, 'utf8'))
const isOrdinary = (file: string) => !replacesModules(file)

const common = {
  setupFiles: ['server/testing/measure-file.ts', 'server/testing/property-seed.ts'],
  // Tests take seconds. On a machine with twenty busy processes they take minutes: this ends only those that hang.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 120_000 } },
}
/** One PostgreSQL serves the whole run; each file, or the files of a worker, clone a database from a migrated template. */
const withDatabase = { ...common, globalSetup: ['server/testing/database-cluster.ts'] }
const withLeastWork = {
  ...withDatabase,
  setupFiles: [...common.setupFiles, 'server/testing/least-password-work.ts'],
}

export default defineConfig({
  test: {
    // The tests must pass on two cores. They compute most of the time, so more files at a time would only load the service more often.
    maxWorkers: 2,
    // One line for each file, and what the run cost.
    reporters: ['default', './server/testing/budget-reporter.ts'],
    slowTestThreshold: 10_000,
    tags: [
      {
        name: 'long',
        description:
          'Tests that cost much for what they show: walks through all operations, and programs that start and end. `npm run prove` runs them.',
      },
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
    projects: [
      {
        // Tests of the pages' wording import the index.ts of their folder, which also exports components with icons.
        plugins: [tablerIcons()],
        test: {
          ...common,
          name: 'pure',
          include: tests.filter((file) => isOrdinary(file) && !asksForDatabase(file)),
        },
      },
      {
        test: {
          ...withLeastWork,
          name: 'database',
          include: tests.filter((file) => isOrdinary(file) && asksForDatabase(file)),
        },
      },
      {
        // A setup file that loads the service would load the modules that these tests replace.
        test: { ...withDatabase, name: 'alone', include: tests.filter(replacesModules), isolate: true },
      },
    ],
  },
})
