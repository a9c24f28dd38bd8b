import { readConfig } from '#server/configuration/index.ts'
import { type Deadlines, deadlinesTimes } from '#server/database/session/index.ts'

const { DEADLINE_FACTOR = '30' } = process.env

/**
 * The deadlines of the database in tests and proofs, unless the service is a process of its own. They are longer than usual, because a
 * busy machine makes every wait longer, and tests that are not about deadlines would get 503.
 */
export const testDeadlines: Deadlines = deadlinesTimes(readConfig({ DEADLINE_FACTOR }).deadlineFactor)
