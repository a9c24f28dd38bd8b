import iconv from 'iconv-lite'

/** Windows, Macintosh and DOS: `macintosh` is "CSV (Macintosh)" of Excel, `cp850` and `cp437` are "CSV (MS-DOS)". */
export const singleByteEncodings = ['windows-1252', 'macintosh', 'cp850', 'cp437'] as const
export type SingleByteEncoding = (typeof singleByteEncodings)[number]

export interface ScoredWords {
  readonly encoding: SingleByteEncoding
  readonly decoded: readonly string[]
  readonly score: number
}

/** The letters beyond ASCII of names in North America, French and Spanish, by how usual they are. */
const letters: ReadonlyMap<string, number> = new Map(
  Object.entries({
    éñáíó: 3,
    ú: 2.5,
    èçüêâô: 2,
    îàöäã: 1.5,
    ëïõû: 1,
    œåøßšž: 0.5,
    ùæÿ: 0.3,
  }).flatMap(([signs, weight]) =>
    [...signs].flatMap((sign): [string, number][] => [
      [sign, weight],
      [sign.toUpperCase(), weight],
    ]),
  ),
)

const isLetter = (sign: string) => /\p{L}/u.test(sign)
const isLower = (sign: string) => /\p{Ll}/u.test(sign)
const isUpper = (sign: string) => /\p{Lu}/u.test(sign)

/**
 * How plausible words are in each encoding, as a sum over their characters beyond ASCII. No usual library tells these encodings
 * apart: they detect scripts, and all of these are Latin.
 *
 * @param words as Latin-1
 * @example scoresOfWords(['Montr\u008eal']) // the best is macintosh, with Montréal
 */
export function scoresOfWords(words: readonly string[]): ScoredWords[] {
  const bytes = words.map((word) => Buffer.from(word, 'latin1'))
  return singleByteEncodings.map((encoding) => {
    const decoded = bytes.map((word) => iconv.decode(word, encoding))
    return { encoding, decoded, score: decoded.reduce((sum, word) => sum + scoreOf(word), 0) }
  })
}

function scoreOf(word: string): number {
  let score = 0
  for (const [at, sign] of [...word].entries()) {
    if (sign > '\u007f') score += plausible(sign, word[at - 1] ?? '', word[at + 1] ?? '')
  }
  return score
}

/** How plausible a character is between two others. */
function plausible(sign: string, before: string, after: string): number {
  const isInside = isLetter(before) && isLetter(after)
  const weight = letters.get(sign)
  if (weight !== undefined) return letterScore(sign, weight, { before, after })
  switch (sign) {
    case '’':
      return isInside ? (/[ODL]/i.test(before) || /[sdmtrv]/i.test(after) ? 1 : -1.5) : 0.7
    case '‘':
    case '“':
      return isLetter(before) ? -2 : 1
    case '”':
      return isLetter(after) ? -2 : 1
    case '\u00a0':
      return 1
    case '–':
    case '—':
    case '•':
    case '…':
      return isInside ? -2 : 1
  }
  if (/[®™©°ºª½¼¾§·«»¿¡±€£¢²³]/u.test(sign)) return isInside ? -2 : 0.5
  return /[\u2500-\u259f\u0080-\u009f\ufffd]|[^\p{Script=Latin}\p{Script=Common}]/u.test(sign) || isInside
    ? -3
    : -1
}

function letterScore(
  sign: string,
  weight: number,
  { before, after }: { readonly before: string; readonly after: string },
): number {
  if (!isLetter(before) && !isLetter(after)) return sign === 'à' ? 0.5 : -1
  // Words are in lower case after their first letter, or in capitals.
  if (isUpper(sign) && isLower(before)) return -3
  if (isLower(sign) && isUpper(after)) return -3
  if (isUpper(sign) && isUpper(before) && isLower(after)) return -1
  if (isLower(sign) && sign === 'ç' && !/[aouáóúâôã]/.test(after)) return -1
  if (isUpper(sign) && sign === 'Ç' && !/[AOUÁÓÚÂÔÃaou]/.test(after)) return -1
  if (/[ùû]/i.test(sign) && !/[aeioubcdfglmnprst]/i.test(before)) return -1
  if (/œ/i.test(sign) && !/[ui]/i.test(after)) return -1
  return weight
}
