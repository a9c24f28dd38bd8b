import type { Reporter, TestModule } from 'vitest/node'
import { processorMs } from './processor-time.ts'

const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`

/** The CPU time in milliseconds of a loop of a billion additions on this machine now, to compare times of different days. */
function referenceLoopMs(): number {
  const additions = 1e8
  const started = processorMs().own
  let sum = 0
  for (let i = 0; i < additions; i += 1) sum += i % 7
  if (sum === 0) throw new Error('The loop did not run.')
  return (processorMs().own - started) * (1e9 / additions)
}

/**
 * Prints at the end of a run its CPU time: of the test files by project, of the ten most expensive files, and of the
 * whole run with PostgreSQL, Vitest and its workers, beside a reference loop. So people see what their tests cost.
 */
export default class BudgetReporter implements Reporter {
  /** The last run of each test file: a file whose process crashed runs again (`run-tests.ts`). */
  readonly #modules = new Map<string, TestModule>()

  onTestRunEnd(modules: readonly TestModule[]): void {
    // The workers and PostgreSQL count only when they have ended.
    if (this.#modules.size === 0) process.once('exit', () => this.#print())
    for (const module of modules) this.#modules.set(module.id, module)
  }

  #print(): void {
    const costs = [...this.#modules.values()]
      .map((module) => ({
        project: module.project.name,
        file: module.relativeModuleId,
        ms: module.meta().processorMs ?? 0,
      }))
      .sort((one, other) => other.ms - one.ms)
    const byProject = Map.groupBy(costs, ({ project }) => project)
    const sum = (some: typeof costs) => some.reduce((total, { ms }) => total + ms, 0)
    const { own, children } = processorMs()
    const loop = (referenceLoopMs() / 1_000).toFixed(1)
    const projects = [...byProject].map(([name, some]) => `${name} ${seconds(sum(some))}`).join(', ')
    const rest = own + children - sum(costs)
    process.stdout.write(
      [
        `   Processor  ${seconds(own + children)}: tests ${seconds(sum(costs))} (${projects}), PostgreSQL and Vitest ${seconds(rest)}; reference loop ${loop} s`,
        ...costs.slice(0, 10).map(({ file, ms }) => `              ${seconds(ms).padStart(6)} ${file}`),
        '',
      ].join('\n'),
    )
  }
}
