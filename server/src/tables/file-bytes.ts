/**
 * The bytes of a file as sent, plain or gzip, in pieces. Each iteration starts at the beginning: a file is read more
 * than once, and its unpacked content is never held whole.
 */
export type FileBytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>
