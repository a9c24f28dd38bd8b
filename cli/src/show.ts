/** Formats results as text. */

/** @example money(1820.5) // '$1,820.50' */
export function money(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined) return '-'
  return dollars.toLocaleString('en-US', { style: 'currency', currency: 'USD' })
}

/** @example percent(0.625) // '62.5 %' */
export function percent(share: number | null | undefined): string {
  return share === null || share === undefined ? '-' : `${(share * 100).toFixed(1)} %`
}

/** Formats name-value pairs, one per line, with aligned values. */
export function pairs(rows: readonly (readonly [name: string, value: string | number | null])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${clean(String(value ?? '-'))}`).join('\n')
}

/** The extras that the commands request with every insight, to show the basis of the amounts and the unknown places. */
export const shownExtras = ['basis', 'places'] as const

interface Compared {
  readonly amounts: 'linehaul' | 'all_in'
  readonly converted: number
  readonly kept_apart: number
  readonly other_modes?: number
}

/**
 * The basis of the amounts of an answer, and the numbers of quotes that were not on this basis.
 *
 * @example basisText({ amounts: 'all_in', converted: 2, kept_apart: 1 }) // 'all-in, US dollars; 2 quotes converted, 1 quote left out'
 */
export function basisText(basis: Compared | undefined): string | null {
  if (basis === undefined) return null
  const { amounts, converted, kept_apart: apart, other_modes: others = 0 } = basis
  const quotes = (count: number) => `${count} quote${count === 1 ? '' : 's'}`
  const counts = [
    ...(converted === 0 ? [] : [`${quotes(converted)} converted`]),
    ...(apart === 0 ? [] : [`${quotes(apart)} left out`]),
    ...(others === 0 ? [] : [`${quotes(others)} of other modes or with stops not counted`]),
  ]
  const said = `${amounts === 'all_in' ? 'all-in' : 'linehaul'}, US dollars`
  return counts.length === 0 ? said : `${said}; ${counts.join(', ')}`
}

/** Lines about the quotes that statistics leave out, for an answer without data; none without such quotes. */
export function leftOutText(basis: Compared | undefined): string[] {
  const { kept_apart: apart = 0, other_modes: others = 0 } = basis ?? {}
  return [
    ...(apart === 0
      ? []
      : [
          apart === 1
            ? '1 quote is left out, because it cannot be converted to the basis and currency of the statistics.'
            : `${apart} quotes are left out, because they cannot be converted to the basis and currency of the statistics.`,
        ]),
    ...(others === 0
      ? []
      : [
          others === 1
            ? '1 quote of another mode or with stops is not counted.'
            : `${others} quotes of other modes or with stops are not counted.`,
        ]),
  ]
}

/** Escapes control characters, because a name may contain terminal escape sequences. */
function clean(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

interface WithUnknownPlaces {
  readonly unknown_places?:
    | readonly {
        readonly parameter: string
        readonly sent: string
        readonly closest: readonly string[]
      }[]
    | undefined
}

/** One line for each origin or destination that is not a known place. */
export function unknownPlacesText({ unknown_places: places = [] }: WithUnknownPlaces): string[] {
  return places.map(({ parameter, sent, closest }) => {
    const meant = closest.length === 0 ? '' : ` Did you mean ${closest.join(' or ')}?`
    return clean(`The ${parameter} "${sent}" is not a known place.${meant}`)
  })
}

const linesShown = 20

/** The first lines of a long list, and how many more there are. */
export function shortened(lines: readonly string[]): readonly string[] {
  return lines.length <= linesShown
    ? lines
    : [...lines.slice(0, linesShown), `and ${lines.length - linesShown} more: see --json`]
}
