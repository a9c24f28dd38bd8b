const equipmentWords: readonly (readonly [code: string, words: RegExp])[] = [
  ['V', /^(\d\d('|ft)? ?)?(dry ?)?van$/i],
  ['R', /^(\d\d('|ft)? ?)?(reefer|refrigerated( van)?)$/i],
  ['F', /^(\d\d('|ft)? ?)?flat ?bed$/i],
  ['SD', /^(\d\d('|ft)? ?)?step ?deck$/i],
]

/**
 * The code of equipment that was written out: quotes of "Dry Van" and of "V" are of one lane. Other words stay, since a
 * brokerage has codes of its own.
 *
 * @example equipmentRead("53' Dry Van") // 'V'
 */
export function equipmentRead(text: string): string {
  const typed = text.trim()
  return equipmentWords.find(([, words]) => words.test(typed))?.[0] ?? typed
}
