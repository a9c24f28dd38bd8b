type Values<T> = readonly (T | null)[]
/** A column of numbers. A typed array contains no null. */
type Numbers = Values<number> | Float64Array | Float32Array | Uint8Array

const typeOf = {
  int4: 23,
  int8: 20,
  float8: 701,
  text: 25,
  bytea: 17,
  date: 1082,
  timestamptz: 1184,
} as const

/** The size of the header: one dimension, whether there are nulls, the element type, the number of elements, and the lower bound 1. */
const headerBytes = 20

function arrayOf(bytes: number, type: keyof typeof typeOf, values: Values<unknown> | Numbers): Buffer {
  const array = Buffer.allocUnsafe(headerBytes + bytes)
  array.writeInt32BE(1, 0)
  array.writeInt32BE(Array.isArray(values) && values.includes(null) ? 1 : 0, 4)
  array.writeInt32BE(typeOf[type], 8)
  array.writeInt32BE(values.length, 12)
  array.writeInt32BE(1, 16)
  return array
}

/** Encodes elements of a fixed width, each after its length. A null is only the length -1. */
function fixed<T>(
  type: keyof typeof typeOf,
  width: 4 | 8,
  values: Iterable<T | null> & (Values<unknown> | Numbers),
  write: (array: Buffer, value: T, at: number) => void,
): Buffer {
  const array = arrayOf(values.length * (4 + width), type, values)
  let at = headerBytes
  for (const value of values) {
    array.writeInt32BE(value === null ? -1 : width, at)
    at += 4
    if (value === null) continue
    write(array, value, at)
    at += width
  }
  return array.subarray(0, at)
}

function int4s(values: Numbers): Buffer {
  return fixed('int4', 4, values, (array, value, at) => array.writeInt32BE(value, at))
}

/** Integers below 2^53. */
function int8s(values: Numbers): Buffer {
  return fixed('int8', 8, values, writeInt8)
}

function float8s(values: Numbers): Buffer {
  return fixed('float8', 8, values, (array, value, at) => array.writeDoubleBE(value, at))
}

function writeInt8(array: Buffer, value: number, at: number): void {
  if (!Number.isSafeInteger(value)) throw new RangeError(`Not an integer: ${value}.`)
  const high = Math.floor(value / 2 ** 32)
  array.writeInt32BE(high, at)
  array.writeUInt32BE(value - high * 2 ** 32, at + 4)
}

/** PostgreSQL timestamps count from 2000-01-01, UTC. */
const epochMs = Date.UTC(2000, 0, 1)
const dayMs = 24 * 60 * 60 * 1000

/** Times with milliseconds, within 285 years of 2000, so that microseconds are integers below 2^53. */
function timestamps(values: Values<Date>): Buffer {
  return fixed('timestamptz', 8, values, (array, value, at) =>
    writeInt8(array, (value.getTime() - epochMs) * 1000, at),
  )
}

/** Calendar days, `YYYY-MM-DD`. */
function days(values: Values<string>): Buffer {
  return fixed('date', 4, values, (array, value, at) =>
    array.writeInt32BE((Date.parse(value) - epochMs) / dayMs, at),
  )
}

function texts(values: Values<string>): Buffer {
  // A UTF-16 code unit takes at most three bytes of UTF-8.
  const units = values.reduce((sum, value) => sum + (value?.length ?? 0), 0)
  const array = arrayOf(4 * values.length + 3 * units, 'text', values)
  let at = headerBytes
  for (const value of values) {
    const length = value === null ? -1 : array.write(value, at + 4)
    array.writeInt32BE(length, at)
    at += 4 + Math.max(0, length)
  }
  return array.subarray(0, at)
}

function byteStrings(values: Values<Uint8Array>): Buffer {
  const bytes = values.reduce((sum, value) => sum + (value?.length ?? 0), 0)
  const array = arrayOf(4 * values.length + bytes, 'bytea', values)
  let at = headerBytes
  for (const value of values) {
    array.writeInt32BE(value?.length ?? -1, at)
    at += 4
    if (value === null) continue
    array.set(value, at)
    at += value.length
  }
  return array
}

/**
 * Encodes columns as PostgreSQL arrays in binary format. Many rows take one parameter per column, and neither side converts
 * numbers and times to text. The driver sends a Buffer in binary format; the statement must name the type, as in
 * `unnest(${binaryArrays.int4s([1, null])}::integer[])`.
 */
export const binaryArrays = { int4s, int8s, float8s, timestamps, days, texts, byteStrings }
