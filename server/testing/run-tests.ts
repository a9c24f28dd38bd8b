import { parseCLI, startVitest, type TestModule } from 'vitest/node'

/**
 * Runs Vitest with the arguments of `vitest run`. If a signal ended the process of a test file, as when V8 crashes or memory
 * is short, the file runs once more in a new process, and the output says so. A test that fails is not repeated.
 */

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)])
const vitest = await startVitest(filter, options)
const crashed = crashedModules(vitest.state.getTestModules(), vitest.state.getUnhandledErrors())
if (crashed.length > 0) {
  process.exitCode = 0
  await vitest.rerunTestSpecifications(crashed.map(({ module }) => module.toTestSpecification()))
  for (const { module, signal } of crashed) {
    process.stdout.write(`   ${module.relativeModuleId} (retry x1): ${signal} ended its process\n`)
  }
}
await vitest.exit()

/** The test files that did not finish because a signal ended their process. None if anything else went wrong. */
function crashedModules(
  modules: readonly TestModule[],
  errors: readonly unknown[],
): readonly { readonly module: TestModule; readonly signal: string }[] {
  const signals = errors.map(endingSignal)
  if (modules.some((module) => module.state() === 'failed') || signals.includes(undefined)) return []
  return modules.flatMap((module) => {
    const ending = signals.find((one) => one?.files.includes(module.moduleId))
    return ending === undefined ? [] : [{ module, signal: ending.signal }]
  })
}

/** Vitest tells only in words that a signal ended the process of its test files. */
function endingSignal(
  error: unknown,
): { readonly signal: string; readonly files: readonly string[] } | undefined {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
  const [, signal, files] =
    /exited unexpectedly with signal (\w+) .* while running test files? (.+)$/.exec(reason) ?? []
  return signal === undefined || files === undefined ? undefined : { signal, files: files.split(', ') }
}
