import { sql } from 'kysely'
import type { TenantTransaction } from '../schema/index.ts'
import { writeRefusal } from './database-failures.ts'

/** Why writes cannot work, in a sentence for operators. */
const sentences = {
  'read-only': 'The database is read-only: it is a standby, or its transactions are read-only by default.',
  'no-space': 'The database refuses writes: its disk is full, or fails.',
} as const

/** Rolls back the transaction of a trial write that succeeded. */
class Tried extends Error {}

/**
 * Knows whether writes can work while reads do: a database whose disk is full, and a standby, still answer reads. Trials cost
 * rows of catalogs, so they run only after a write was refused, until one succeeds.
 */
export class WriteCheck {
  #wasRefused = false

  /** Sees the error of each transaction. */
  see(error: unknown): void {
    if (writeRefusal(error) !== null) this.#wasRefused = true
  }

  /**
   * A sentence that says why writes cannot work; null if they can.
   *
   * @param isReadOnly whether the database says that it is
   * @param inTransaction runs work in one transaction
   * @throws what the transaction throws, except a refused write
   */
  async reason(
    isReadOnly: boolean,
    inTransaction: (work: (transaction: TenantTransaction) => Promise<never>) => Promise<never>,
  ): Promise<string | null> {
    if (isReadOnly) return sentences['read-only']
    if (!this.#wasRefused) return null
    try {
      return await inTransaction(async (transaction) => {
        await sql`select try_write()`.execute(transaction)
        throw new Tried()
      })
    } catch (error) {
      const refusal = error instanceof Tried ? null : writeRefusal(error)
      if (refusal !== null) return sentences[refusal]
      if (!(error instanceof Tried) && !isNotPermitted(error)) throw error
      this.#wasRefused = false
      return null
    }
  }
}

/** Whether the owner of the tables may not create temporary ones. Then the next refused write counts again. */
const isNotPermitted = (error: unknown) => (error as { readonly code?: unknown }).code === '42501'
