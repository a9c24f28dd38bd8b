import { editDistance } from '#geography/edit-distance.ts'

/**
 * A sentence for each variable whose name is nearly that of a setting: ignored, it would leave the setting at its default.
 * Names are compared without case and underscores, with up to two letters wrong. Names of fewer than eight letters
 * resemble variables of other programs: of these, only another case of a name with an underscore is found (data_dir).
 *
 * @param given the names of all environment variables
 * @param known the names of all settings
 * @example misspelledVariables(['ALLOW_SIGNUP'], new Set(['ALLOW_SIGN_UP'])) // ['ALLOW_SIGNUP is not a setting ...']
 */
export function misspelledVariables(given: readonly string[], known: ReadonlySet<string>): string[] {
  return given.flatMap((name) => {
    if (known.has(name)) return []
    const meant = [...known].find((setting) => resembles(name, setting))
    return meant === undefined
      ? []
      : [`${name} is not a setting: did you mean ${meant}? Correct the name, or remove the variable.`]
  })
}

const lettersMin = 8
const lettersWrongMax = 2

/** A plural counts as its singular: TRUST_PROXIES is three letters from TRUST_PROXY. */
const letters = (name: string) => name.replaceAll('_', '').toUpperCase().replace(/IES$/, 'Y')

function resembles(name: string, setting: string): boolean {
  const [own, other] = [letters(name), letters(setting)]
  if (Math.min(own.length, other.length) < lettersMin) return own === other && name.includes('_')
  return editDistance(own, other, lettersWrongMax) <= lettersWrongMax
}
