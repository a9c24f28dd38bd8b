import { DatabaseSync } from 'node:sqlite'
import type { Booking, Mapped, Quote } from './mappings.ts'

/** An item that waits for its push. `sequence` grows with each version of the item. */
export interface Waiting<Item> {
  readonly sequence: number
  readonly item: Item
}

/** Why an item was refused: the fields, with their errors. */
export interface Refusal {
  readonly external_id: string
  readonly kind: 'quote' | 'booking' | 'record'
  readonly errors: readonly { readonly field: string; readonly detail: string }[]
}

/**
 * The items that were received and not pushed yet, in a SQLite file. A commit is on the disk before the TMS gets its answer,
 * so that a crash of the relay loses nothing. An item that is pushed twice changes nothing in Lanewise.
 */
export class Outbox {
  readonly #database: DatabaseSync

  constructor(path: string) {
    this.#database = new DatabaseSync(path)
    this.#database.exec(`
      pragma journal_mode = wal;
      pragma synchronous = full;
      pragma busy_timeout = 10000;
      create table if not exists waiting (
        sequence integer primary key autoincrement,
        kind text not null,
        external_id text not null,
        item text not null,
        unique (kind, external_id)
      );
      create table if not exists refused (
        kind text not null,
        external_id text not null,
        item text not null,
        errors text not null,
        primary key (kind, external_id)
      );
    `)
  }

  /** Stores records in one commit. A record has its complete state, so its newest version replaces a waiting one. */
  accept(records: readonly Mapped[], refusals: readonly { refusal: Refusal; record: unknown }[]): void {
    this.#atomically(() => {
      for (const { quote, booking } of records) {
        this.#wait('quote', quote.external_id, quote)
        if (booking !== null) this.#wait('booking', quote.external_id, booking)
      }
      for (const { refusal, record } of refusals) this.#refuse(refusal, record)
    })
  }

  quotes(most: number): Waiting<Quote>[] {
    return this.#read<Quote>(`where kind = 'quote' order by sequence limit ?`, most)
  }

  /** The bookings whose quotes were pushed. */
  bookings(most: number): Waiting<Booking>[] {
    return this.#read<Booking>(
      `where kind = 'booking' and external_id not in (select external_id from waiting where kind = 'quote')
       order by sequence limit ?`,
      most,
    )
  }

  /** Removes items that were pushed or refused. A newer version that arrived during the push stays. */
  settle(
    pushed: readonly Waiting<unknown>[],
    refused: readonly { refusal: Refusal; item: Waiting<unknown> }[],
  ) {
    this.#atomically(() => {
      const remove = this.#database.prepare('delete from waiting where sequence = ?')
      for (const { sequence } of pushed) remove.run(sequence)
      for (const { refusal, item } of refused) {
        remove.run(item.sequence)
        this.#refuse(refusal, item.item)
      }
    })
  }

  counts(): { waiting: number; refused: number } {
    const count = (table: string) =>
      Number(this.#database.prepare(`select count(*) as rows from ${table}`).get()?.rows)
    return { waiting: count('waiting'), refused: count('refused') }
  }

  refusals(): Refusal[] {
    return this.#database
      .prepare('select kind, external_id, errors from refused order by external_id, kind desc')
      .all()
      .map(({ kind, external_id, errors }) => ({
        external_id: String(external_id),
        kind: kind as Refusal['kind'],
        errors: JSON.parse(String(errors)),
      }))
  }

  /** The records that could not be mapped, as they were stored. */
  refusedRecords(): unknown[] {
    return this.#database
      .prepare(`select item from refused where kind = 'record'`)
      .all()
      .map(({ item }) => JSON.parse(String(item)))
  }

  /** Puts refused quotes and bookings back. A newer version that waits already stays. */
  retry(): void {
    this.#atomically(() => {
      this.#database.exec(`
        insert or ignore into waiting (kind, external_id, item)
          select kind, external_id, item from refused where kind <> 'record' order by kind desc;
        delete from refused where kind <> 'record';
      `)
    })
  }

  close(): void {
    this.#database.close()
  }

  #wait(kind: 'quote' | 'booking', externalId: string, item: object): void {
    this.#database
      .prepare('insert or replace into waiting (kind, external_id, item) values (?, ?, ?)')
      .run(kind, externalId, JSON.stringify(item))
    this.#database
      .prepare(`delete from refused where external_id = ? and kind in (?, 'record')`)
      .run(externalId, kind)
  }

  #refuse({ kind, external_id, errors }: Refusal, item: unknown): void {
    this.#database
      .prepare('insert or replace into refused (kind, external_id, item, errors) values (?, ?, ?, ?)')
      .run(kind, external_id, JSON.stringify(item), JSON.stringify(errors))
  }

  #read<Item>(where: string, most: number): Waiting<Item>[] {
    return this.#database
      .prepare(`select sequence, item from waiting ${where}`)
      .all(most)
      .map(({ sequence, item }) => ({ sequence: Number(sequence), item: JSON.parse(String(item)) as Item }))
  }

  #atomically(change: () => void): void {
    this.#database.exec('begin immediate')
    try {
      change()
      this.#database.exec('commit')
    } catch (error) {
      this.#database.exec('rollback')
      throw error
    }
  }
}
