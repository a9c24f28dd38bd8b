/** Matches the names of amounts, which are cents in the engine and dollars in the API. */
const cents = /Cents$/

/**
 * The engine's evidence in the form of the API: snake_case names, dollars for cents, ISO times for epochs.
 *
 * @example evidenceAnswer({ winsAtOrBelow: 3, reference: { cents: 202500 } }) // { wins_at_or_below: 3, reference: { dollars: 2025 } }
 */
export function evidenceAnswer(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(evidenceAnswer)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (name === 'cents' && typeof member === 'number') return ['dollars', round(member)]
      if (cents.test(name) && (typeof member === 'number' || member === null)) {
        return [snakeCase(name.replace(cents, '')), member === null ? null : round(member)]
      }
      if (cents.test(name) && Array.isArray(member)) {
        return [
          snakeCase(name.replace(cents, '')),
          member.map((one) => (typeof one === 'number' ? round(one) : one)),
        ]
      }
      if (name.endsWith('At') && typeof member === 'number')
        return [snakeCase(name), new Date(member).toISOString()]
      return [snakeCase(name), evidenceAnswer(member)]
    }),
  )
}

function round(amountCents: number): number {
  return Math.round(amountCents) / 100
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
