import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const leftOut = new Set(['node_modules', '.git', 'data', 'mutants.config.ts'])

/** Makes a folder equal to the program at `root`, with linked packages. Files that are already equal are not written. */
export function copyProgram(root: string, folder: string): void {
  mkdirSync(folder, { recursive: true })
  const wanted = new Set(filesIn(root))
  for (const file of filesIn(folder)) if (!wanted.has(file)) rmSync(join(folder, file))
  for (const file of wanted) {
    const [content, path] = [readFileSync(join(root, file)), join(folder, file)]
    if (existsSync(path) && readFileSync(path).equals(content)) continue
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  if (!existsSync(join(folder, 'node_modules')))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
}

function filesIn(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (leftOut.has(entry.name)) return []
    return entry.isDirectory() ? filesIn(root, path) : entry.isFile() ? [path] : []
  })
}
