import { spawn } from 'node:child_process'
import { startCitusCluster } from './citus-cluster.ts'

/** `npm run prove:cluster`: starts a Citus cluster on this machine, and runs the tests `proofs/distributed*.test.ts` there. */
async function main(): Promise<number> {
  process.stdout.write('Starting a coordinator and two workers.\n')
  const cluster = await startCitusCluster(2)
  try {
    const child = spawn(
      'vitest',
      // One file after the other: several start clusters of their own.
      [
        'run',
        '--maxWorkers=1',
        'proofs/distributed.test.ts',
        'proofs/distributed-',
        ...process.argv.slice(2),
      ],
      {
        stdio: 'inherit',
        env: { ...process.env, LANEWISE_TEST_CITUS_URL: cluster.url },
      },
    )
    return await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve(code ?? 1))
    })
  } finally {
    cluster.remove()
  }
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
