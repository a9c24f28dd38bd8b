/** A pair of the map of an import, such as `quoted_rate=Sell Rate`. */
export interface MapPair {
  /** The whole pair as it was written, and what stands before its equals sign. */
  readonly text: string
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
 *   // [{ left: 'origin', name: 'origin', value: 'From, city', written: '"From, city"', ... }, 'dates']
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
    const left = pair.slice(0, at).trim()
    yield {
      text: pair.trim(),
      left,
      name: left.replaceAll('"', '').trim(),
      value: withoutQuotes(written),
      written,
    }
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

/**
 * A map with other pairs, in place of those with the same left sides.
 *
 * @param left the left sides of pairs to leave out
 * @example mapWith('basis=all_in', ['dates=day_first']) // 'basis=all_in,dates=day_first'
 * @example mapWith('basis=all_in,outcome:Dead=lost', ['outcome:Dead=skip']) // 'basis=all_in,outcome:Dead=skip'
 */
export function mapWith(map: string, pairs: readonly string[], left: readonly string[] = []): string {
  const changed = new Set(left)
  for (const pair of mapPairs(pairs.join(','))) if (typeof pair !== 'string') changed.add(pair.left)
  const kept = [...mapPairs(map)].flatMap((pair) => {
    if (typeof pair === 'string') return [pair]
    return changed.has(pair.left) ? [] : [pair.text]
  })
  return [...kept, ...pairs].join(',')
}

/** The value of a setting of a map. @example settingIn('dates=day_first,hidden=skip', 'hidden') // 'skip' */
export function settingIn(map: string, name: string): string | undefined {
  for (const pair of mapPairs(map)) if (typeof pair !== 'string' && pair.name === name) return pair.value
  return undefined
}
