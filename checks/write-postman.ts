import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postmanCollection } from './postman-collection.ts'
import { postmanFile, root, textOf } from './repository.ts'

/** Generates the Postman collection from the contract (`npm run postman`). */
const { version } = JSON.parse(textOf('package.json')) as { version: string }
writeFileSync(join(root, postmanFile), `${JSON.stringify(postmanCollection(version), null, 2)}\n`)
