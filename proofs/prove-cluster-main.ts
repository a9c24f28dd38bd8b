import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { startCitusCluster } from './citus-cluster.ts'

/**
 * `npm run prove:cluster`: starts a Citus cluster on this machine, and runs the tests `proofs/distributed*.test.ts` there, one
 * file after the other: some measure what a busy service answers, and some start a cluster of their own. Arguments are
 * passed to Vitest.
 */
async function main(): Promise<number> {
  process.stdout.write('Starting a coordinator and two workers.\n')
  const cluster = await startCitusCluster(2)
  let failed = 0
  try {
    for (const file of globSync('proofs/distributed*.test.ts').sort())
      if ((await runTests(file, cluster.url)) !== 0) failed++
  } finally {
    cluster.remove()
  }
  process.stdout.write(failed === 0 ? 'All files passed.\n' : `${failed} files failed.\n`)
  return failed === 0 ? 0 : 1
}

function runTests(file: string, url: string): Promise<number> {
  const child = spawn('vitest', ['run', file, '--passWithNoTests', ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, LANEWISE_TEST_CITUS_URL: url },
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
