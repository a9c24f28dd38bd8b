import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { version } from '../runtime/index.ts'

const engine = new URL('../../../engine/src/', import.meta.url)

function sourceDigest(): string {
  const digest = createHash('sha256')
  for (const folder of ['estimate/', 'appraisal/']) {
    const names = readdirSync(new URL(folder, engine))
    const files = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    for (const name of files.toSorted()) {
      digest.update(`${name}\n`).update(readFileSync(new URL(`${folder}${name}`, engine)))
    }
  }
  return digest.digest('hex').slice(0, 12)
}

/**
 * The model behind a forecast: the version of Lanewise, and a digest of the sources of its estimate, which differs after every
 * change of a formula.
 *
 * @example modelVersion // '0.2.0 3f6d1c02ab97'
 */
export const modelVersion = `${version} ${sourceDigest()}`
