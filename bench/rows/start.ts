import { isDeepStrictEqual } from 'node:util'
import { type BenchFindings, type BenchRow, spreadOf } from '../bench-row.ts'
import { readsOfAll } from '../load/request-pool.ts'
import { askOnce } from '../measured.ts'
import { startLanewise } from '../peers/four-servers.ts'
import { startServer } from '../processes.ts'

const starts = 3

/** The time from starting the service with its embedded PostgreSQL to the first correct response. */
export const startRow: BenchRow = {
  name: 'start',
  about: 'from the start on a large data folder to the first correct response',
  async measure(bench): Promise<BenchFindings> {
    const { manyQuotes } = bench.options
    const data = await bench.data({ quotes: manyQuotes })
    const [question] = readsOfAll(data.access, 'markup')
    if (question === undefined) throw new Error('There is no request to send.')
    const before = await startLanewise(data)
    const expected = await askOnce<unknown>(before, question.path, question.token)
    await before.stop()
    await bench.closeData(data)
    const ready: number[] = []
    const answered: number[] = []
    const faults: string[] = []
    for (let start = 1; start <= starts; start++) {
      bench.say(`start: ${start} of ${starts}`)
      const began = performance.now()
      const server = await startServer(
        'lanewise',
        '../server/src/main.ts',
        { DATA_DIR: data.directory, DATABASE_URL: '', MIGRATION_DATABASE_URL: '', SAMPLE_BROKERAGE: 'false' },
        'Lanewise is ready',
      )
      try {
        const answer = await askOnce<unknown>(server, question.path, question.token)
        answered.push((performance.now() - began) / 1000)
        ready.push(server.readyMs / 1000)
        if (!isDeepStrictEqual(answer, expected))
          faults.push('the first response differs from that before the restart')
      } finally {
        await server.stop('SIGTERM')
      }
    }
    return {
      table: {
        columns: ['ready s', 'first response s'],
        lines: [[`${manyQuotes.toLocaleString('en-US')} quotes`, spreadOf(ready), spreadOf(answered)]],
      },
      bars: [
        {
          check: 'start',
          measure: 'seconds to the first response',
          value: spreadOf(answered).median,
          most: 5,
        },
      ],
      faults,
      notes: ['the system’s file cache is warm'],
    }
  },
}
