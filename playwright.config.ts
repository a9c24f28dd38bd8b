import { defineConfig } from '@playwright/test'

/** The tests of the pages, in a real browser: `npm run test:pages`. Tests tagged `@long` are parts of `npm run prove`. */
export default defineConfig({
  testDir: 'dashboard/tests',
  testMatch: '*.test.ts',
  globalSetup: './dashboard/testing/prepare-pages.ts',
  outputDir: 'test-results',
  reporter: 'list',
  workers: 4,
  // A second try is printed as flaky. It is a fault to find, in the test or in the page.
  retries: 1,
  // Tests take seconds. On a machine with twenty busy processes they take minutes: this ends only those that hang.
  timeout: 600_000,
  expect: { timeout: 120_000 },
  use: { screenshot: 'only-on-failure', trace: 'on-first-retry' },
})
