import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Mutant, mutated } from './mutations.ts'

/** The most runs of the compiler. Each checks one mutant per file, so further mutants of a file stay unchecked. */
const roundsMax = 10

/**
 * Returns the mutants that compile. `npm run check` notices the others, so they say nothing about the tests.
 */
export function compiledMutants<One extends Mutant>(
  root: string,
  folder: string,
  mutants: readonly One[],
  print: (line: string) => void,
): One[] {
  const byFile = Map.groupBy(mutants, ({ file }) => file)
  const found = new Set<One>()
  for (let round = 0; round < roundsMax; round += 1) {
    const some = [...byFile.values()].flatMap((ofFile) => ofFile[round] ?? [])
    if (some.length === 0) break
    const originals = some.map(({ file }) => readFileSync(join(folder, file), 'utf8'))
    try {
      some.forEach((one, index) => {
        writeFileSync(join(folder, one.file), mutated(originals[index] ?? '', one))
      })
      const refused = filesWithErrors(
        root,
        folder,
        some.some(({ file }) => file.startsWith('dashboard/')),
      )
      for (const one of some) if (!refused.has(one.file)) found.add(one)
      print(`${some.filter((one) => found.has(one)).length} of ${some.length} mutants compile`)
    } finally {
      some.forEach((one, index) => {
        writeFileSync(join(folder, one.file), originals[index] ?? '')
      })
    }
  }
  return mutants.filter((one) => found.has(one))
}

function filesWithErrors(root: string, folder: string, isDashboard: boolean): Set<string> {
  const compile = (...project: string[]) => {
    const { stdout, error } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '--pretty', 'false', ...project],
      { cwd: folder, encoding: 'utf8' },
    )
    if (error !== undefined) throw error
    return [...stdout.matchAll(/^(\S+?)\(\d+,\d+\): error/gm)].map(([, file = '']) => file)
  }
  return new Set([...compile(), ...(isDashboard ? compile('-p', 'dashboard') : [])])
}
