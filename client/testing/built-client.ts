import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new project in a temporary folder, with the built client in its node_modules, for programs that import it. */
export function projectWithClient(): string {
  const project = mkdtempSync(join(tmpdir(), 'lanewise-project-'))
  execFileSync(process.execPath, [
    join(import.meta.dirname, '../build.ts'),
    join(project, 'node_modules/lanewise-client'),
  ])
  writeFileSync(join(project, 'package.json'), '{"type": "module"}')
  return project
}
