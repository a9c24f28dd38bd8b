import { editDistance } from '#geography/edit-distance.ts'

/**
 * A sentence for each variable whose name is nearly that of a setting: ignored, it would leave the setting at its default.
 * Names are compared without case, underscores and plurals, with up to two letters wrong. Names of fewer than eight letters
 * resemble variables of other programs: of these, only another way of writing the same letters is found (data_dir, DATADIR).
 * A name with or without LANEWISE_ is found while the setting is absent: beside it, it belongs to another program.
 *
 * @param env all environment variables
 * @param known the names of all settings
 * @example misspelledVariables({ ALLOW_SIGNUP: 'false' }, new Set(['ALLOW_SIGN_UP'])) // ['ALLOW_SIGNUP is not a setting ...']
 */
export function misspelledVariables(
  env: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>,
): string[] {
  return Object.keys(env).flatMap((name) => {
    if (known.has(name)) return []
    const meant = [...known].find(
      (setting) => resembles(name, setting) || (env[setting] === undefined && isWithoutPrefix(name, setting)),
    )
    return meant === undefined
      ? []
      : [`${name} is not a setting: did you mean ${meant}? Correct the name, or remove the variable.`]
  })
}

const lettersMin = 8
const lettersWrongMax = 2
/** PORT, HOST and their plurals are names of other programs in any form, such as LANEWISE_PORT in Kubernetes. */
const sameLettersMin = 5

/** A plural counts as its singular: TRUST_PROXIES is three letters from TRUST_PROXY. */
const letters = (name: string) =>
  name
    .replaceAll('_', '')
    .toUpperCase()
    .replace(/^DB(?=URL$)/, 'DATABASE')
    .replace(/IES$/, 'Y')
    .replace(/S$/, '')

function resembles(name: string, setting: string): boolean {
  const [own, other] = [letters(name), letters(setting)]
  if (Math.min(own.length, other.length) < lettersMin) return own === other && own.length >= sameLettersMin
  return editDistance(own, other, lettersWrongMax) <= lettersWrongMax
}

function isWithoutPrefix(name: string, setting: string): boolean {
  const [own, other] = [name, setting].map((one) => letters(one).replace(/^LANEWISE/, ''))
  return own !== undefined && own === other && own.length >= sameLettersMin
}
