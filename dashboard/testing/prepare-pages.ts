import { type DatabaseCluster, startPatientCluster } from '#testing/database-cluster.ts'
import { builtDigest, sourcesDigest } from '../sources-digest.ts'
import { findBrowser, requireBuiltDashboard, type TestBrowser } from './find-browser.ts'

/** The resources that the workers of a test run share. */
export interface PagesRun {
  readonly cluster: DatabaseCluster
  readonly browser: TestBrowser
}

const variable = 'LANEWISE_PAGES_RUN'

/** The PostgreSQL server and the browser of this test run, as `preparePages` has stated them to its workers. */
export function pagesRun(): PagesRun {
  const stated = process.env[variable]
  if (stated === undefined) throw new Error('Run the tests of pages with `npm run test:pages`.')
  return JSON.parse(stated) as PagesRun
}

/** Playwright's global setup: one PostgreSQL server and one unpacked browser for the run. Returns the teardown function. */
export default async function preparePages(): Promise<() => Promise<void>> {
  requireBuiltDashboard(builtDigest(), sourcesDigest())
  const browser = await findBrowser()
  const { cluster, stop } = await startPatientCluster()
  const run: PagesRun = { cluster, browser }
  process.env[variable] = JSON.stringify(run)
  return stop
}
