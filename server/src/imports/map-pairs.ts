/** A pair of a map, such as `quoted_rate=Sell Rate`. */
export interface MapPair {
  /** What stands before the equals sign, as it was written. */
  readonly left: string
  readonly name: string
  /** The value without its double quotes. */
  readonly value: string
  /** The value as it was written. */
  readonly written: string
}

/**
 * The pairs of a map, which commas separate. Double quotes enclose a text with a comma or an equals sign; double quotes inside it
 * are doubled. A string is a part that is no pair.
 *
 * @example [...mapPairs('origin="From, city",dates')]
 *   // [{ left: 'origin', name: 'origin', value: 'From, city', written: '"From, city"' }, 'dates']
 */
export function* mapPairs(map: string): Generator<MapPair | string> {
  for (const pair of map.match(/(?:"[^"]*"|[^,"])+/g) ?? []) {
    if (pair.trim() === '') continue
    const at = equalsOf(pair)
    if (at < 0) {
      yield pair.trim()
      continue
    }
    const written = pair.slice(at + 1).trim()
    const left = pair.slice(0, at)
    yield { left, name: left.replaceAll('"', '').trim(), value: withoutQuotes(written), written }
  }
}

/** @example withoutQuotes('"Rate ""all in"""') // 'Rate "all in"' */
export function withoutQuotes(written: string): string {
  const quoted = /^"((?:[^"]|"")*)"$/.exec(written)
  return (quoted?.[1]?.replaceAll('""', '"') ?? written.replaceAll('"', '')).trim()
}

/** The position of the equals sign of a pair, outside of double quotes; -1 if there is none. */
function equalsOf(pair: string): number {
  let isInside = false
  for (let at = 0; at < pair.length; at++) {
    if (pair[at] === '"') isInside = !isInside
    else if (pair[at] === '=' && !isInside) return at
  }
  return -1
}
