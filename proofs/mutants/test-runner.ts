import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reporter, TestSpecification, Vitest } from 'vitest/node'

export interface TestRun {
  /** The first failed test, with the first line of its error; null if all passed. */
  readonly failed: { readonly file: string; readonly test: string; readonly error: string } | null
  readonly timedOut: boolean
  /** The files that ran and passed. */
  readonly passed: readonly string[]
  readonly failedFiles: readonly string[]
}

/** One Vitest in a folder of the program. Between runs it stays ready, so that its database starts only once. */
export interface TestRunner {
  readonly files: readonly string[]
  run(
    files: readonly string[],
    limits: { seconds: number; untilFirstFailure: boolean; signal: AbortSignal },
  ): Promise<TestRun>
  changed(file: string): void
  close(): Promise<void>
}

/** The tests that run on mutants: all except long proofs and tests that compare generated files with their source. */
const configFile = `import base from './vitest.config.ts'
const left = /proofs\\/(other-callers|fuzzer|planted-fault)\\.test|checks\\/(recipes|schema|changes|install|lock-file|dependencies|tidy|docs|readme|deploy)\\.test|client\\/.*build|cli\\/.*build/
const projects = base.test.projects.map((project) => ({
  ...project,
  test: { ...project.test, include: project.test.include.filter((file) => !left.test(file)), setupFiles: ['./proofs/mutants/reach-setup.ts'] },
}))
export default { ...base, test: { ...base.test, projects } }
`

export async function startTests(folder: string, workers: number): Promise<TestRunner> {
  writeFileSync(join(folder, 'mutants.config.ts'), configFile)
  process.chdir(folder)
  const { createVitest } = await import('vitest/node')
  let onFailure = (_file: string, _test: string, _error: string) => {}
  let ended = new Map<string, boolean>()
  const reporter: Reporter = {
    onTestCaseResult(test) {
      const result = test.result()
      if (result.state !== 'failed') return
      onFailure(test.module.relativeModuleId, test.fullName, result.errors[0]?.message ?? '')
    },
    onTestModuleEnd(module) {
      const passed = module.state() === 'passed' || module.state() === 'skipped'
      ended.set(module.relativeModuleId, passed)
      if (!passed)
        onFailure(
          module.relativeModuleId,
          'the file',
          module.errors()[0]?.message ?? 'a test or a hook failed',
        )
    },
  }
  const vitest: Vitest = await createVitest({
    config: join(folder, 'mutants.config.ts'),
    root: folder,
    watch: false,
    reporters: [reporter],
    maxWorkers: workers,
    tagsFilter: ['!long && !measure'],
    includeTaskLocation: false,
  })
  await vitest.standalone()
  const specifications = new Map<string, TestSpecification>()
  for (const one of await vitest.globTestSpecifications())
    specifications.set(one.moduleId.slice(folder.length + 1), one)

  return {
    files: [...specifications.keys()].sort(),
    async run(files, { seconds, untilFirstFailure, signal }) {
      let failed: TestRun['failed'] = null
      let timedOut = false
      ended = new Map()
      const stop = () => {
        void vitest.cancelCurrentRun('test-failure')
        // A worker in an endless loop reacts to no message.
        setTimeout(killWorkers, 5_000).unref()
      }
      onFailure = (file, test, error) => {
        failed ??= { file, test, error: error.split('\n')[0]?.slice(0, 200) ?? '' }
        if (untilFirstFailure) void vitest.cancelCurrentRun('test-failure')
      }
      const timer = setTimeout(() => {
        timedOut = true
        stop()
      }, seconds * 1000)
      signal.addEventListener('abort', stop, { once: true })
      try {
        const { unhandledErrors } = await vitest.runTestSpecifications(
          files.flatMap((file) => specifications.get(file) ?? []),
        )
        const [unhandled] = unhandledErrors as { message?: string }[]
        if (unhandled !== undefined && !timedOut)
          onFailure(files[0] ?? '', 'an error outside of tests', unhandled.message ?? String(unhandled))
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
        onFailure = () => {}
      }
      const of = (passed: boolean) => [...ended].filter(([, one]) => one === passed).map(([file]) => file)
      return { failed, timedOut, passed: of(true), failedFiles: of(false) }
    },
    changed: (file) => vitest.invalidateFile(join(folder, file)),
    close: () => vitest.close(),
  }
}

/** Kills the workers of Vitest, which are children of this process. */
function killWorkers(): void {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
  for (const line of lines) {
    const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    if (Number(parent) !== process.pid || !/vitest\/dist\/workers/.test(args)) continue
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // The worker has ended meanwhile.
    }
  }
}
