import { migrationDigests, migrationFaults, releasedDigests, releasedFile } from './released-migrations.ts'
import { textOf } from './repository.ts'

/** Refuses changed and removed migrations, as a part of `npm run check`. */
const faults = migrationFaults(releasedDigests(textOf(releasedFile)), migrationDigests())
for (const fault of faults) process.stderr.write(`${fault}\n`)
process.exitCode = faults.length === 0 ? 0 : 1
