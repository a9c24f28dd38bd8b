import { customerKey, lowerCase } from '../customer-name.ts'

/** The customer of a quote and of its booking, as they were written. */
export interface CustomerNames {
  /** The key of the customer that the quote counts for: the booking's customer if it names one, else the quote's. */
  readonly key: string
  /** The key of the customer of the quote. */
  readonly quotedKey: string
  /** Whether the booking names a customer. */
  readonly isBooked: boolean
  /** The name that `key` stands for, as it was written, without space around it. */
  readonly written: string
}

export interface CarrierName {
  /** The name in lower case; empty without a carrier. */
  readonly key: string
  readonly written: string
}

/** Approximate memory of an entry without its texts, and of a character of a text, in bytes. */
const BYTES_PER_ENTRY = 200
const BYTES_PER_CHARACTER = 3

/** The names of customers and carriers, each once. A quote refers to its names by number; 0 means no names. */
export class QuoteNames {
  readonly customers: CustomerNames[] = []
  readonly carriers: CarrierName[] = []
  readonly #customers = new Map<string, Map<string, number>>()
  readonly #carriers = new Map<string, number>()
  #bytes = 0

  constructor() {
    this.customer('', null)
    this.carrier('')
  }

  /** The id of the two customer names of a quote: as quoted, and as booked. */
  customer(quoted: string, booked: string | null): number {
    const ofQuoted = this.#customers.get(quoted)
    const known = ofQuoted?.get(booked ?? '')
    if (known !== undefined) return known
    const quotedKey = customerKey(quoted)
    const named = {
      quotedKey,
      key: booked === null ? quotedKey : customerKey(booked),
      isBooked: booked !== null,
      written: withoutSpaceAround(booked ?? quoted),
    }
    const number = this.customers.push(named) - 1
    if (ofQuoted === undefined) this.#customers.set(quoted, new Map([[booked ?? '', number]]))
    else ofQuoted.set(booked ?? '', number)
    this.#bytes += BYTES_PER_ENTRY + BYTES_PER_CHARACTER * (quoted.length + (booked ?? '').length)
    return number
  }

  /** The number of a carrier's name; an empty name for a quote without a carrier. */
  carrier(written: string): number {
    const known = this.#carriers.get(written)
    if (known !== undefined) return known
    const number = this.carriers.push({ key: lowerCase(written), written }) - 1
    this.#carriers.set(written, number)
    this.#bytes += BYTES_PER_ENTRY + BYTES_PER_CHARACTER * written.length
    return number
  }

  /** Approximate memory, in bytes. */
  bytes(): number {
    return this.#bytes
  }
}

/** Removes spaces at both ends, but no other white space, like `btrim` of the database. */
function withoutSpaceAround(name: string): string {
  let [start, end] = [0, name.length]
  while (name[start] === ' ') start++
  while (end > start && name[end - 1] === ' ') end--
  return name.slice(start, end)
}
