import { migrationFaults, migrationTexts, readReleased, releasedFile } from './released-migrations.ts'
import { textOf } from './repository.ts'

/** Refuses changed and unsafe migrations, as a part of `npm run check`. */
const faults = migrationFaults(readReleased(textOf(releasedFile)), migrationTexts())
for (const fault of faults) process.stderr.write(`${fault}\n`)
process.exitCode = faults.length === 0 ? 0 : 1
