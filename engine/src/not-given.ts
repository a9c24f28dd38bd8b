/** What a text should be. The same word can be a value of one kind and no value of another: `0` is a distance, but no id. */
export type GivenKind = 'id' | 'name' | 'city' | 'zip' | 'amount' | 'miles' | 'time' | 'equipment'

/** Words with which people and programs say of any kind of value that there is none. */
const anyKind = [
  ...[
    'n/a',
    'n.a.',
    'n.a',
    'na',
    'n a',
    'tbd',
    't.b.d.',
    'tba',
    'tbc',
    'to be determined',
    'to be announced',
  ],
  ...['none', 'null', 'nil', 'undefined', 'unknown', 'unspecified', 'unassigned', 'pending'],
  ...[
    'not given',
    'not available',
    'not applicable',
    'not assigned',
    'not provided',
    'not specified',
    'not set',
  ],
  ...['blank', 'empty'],
]

/** Words that a person writes where an id belongs. A customer can be named Spot, so they are names. */
const noIds = [
  ...['x', 'xx', 'xxx', 'nan', 'various', 'varies', 'multiple', 'many', 'mixed', 'misc', 'spot', 'contract'],
  ...['see note', 'see notes', 'see comment', 'see comments', 'see below', 'see above', 'see email'],
]

/** Words of one kind only, beside those of any kind. */
const wordsOfKind: Readonly<Record<GivenKind, readonly string[]>> = {
  id: noIds,
  name: [],
  city: ['nan', 'various', 'multiple'],
  amount: ['nan', 'no rate', 'no data', 'no cost'],
  miles: ['nan', 'no data'],
  time: ['nan', 'nat', 'no date'],
  zip: ['nan', 'no zip'],
  equipment: [
    'nan',
    'x',
    'xx',
    'xxx',
    'any',
    'all',
    'various',
    'varies',
    'multiple',
    'see note',
    'see notes',
  ],
}

/** Zeros that are no value of their kind. Zero miles and amounts of zero are values, which their readers read. */
const zerosOfKind: Readonly<Partial<Record<GivenKind, RegExp>>> = {
  id: /^0+(\.0+)?$/,
  zip: /^0+(\.0+)?(-0+)?$/,
  equipment: /^0+(\.0+)?$/,
  // The zero days of spreadsheets, and the first days that databases and programs count from, at any time of day.
  time: /^(0+(\.0+)?|(0{1,2}[-/]0{1,2}[-/]0{2,4}|0000-00-00|1900-01-00|0?1[-/]0{1,2}[-/]1900|(0001|1753|1900|1970)-01-01|0?1[-/]0?1[-/](0001|1753|1900|1970)|1899-12-3[01]|12[-/]3[01][-/]1899|1969-12-31|12[-/]31[-/]1969)([ t]+\d{1,2}:\d\d(:\d\d(\.\d+)?)?( ?[ap]m)?(z|[+-]\d\d:?\d\d)?)?)$/,
}

const wordSets: Readonly<Record<GivenKind, ReadonlySet<string>>> = {
  id: new Set([...anyKind, ...wordsOfKind.id]),
  name: new Set([...anyKind, ...wordsOfKind.name]),
  city: new Set([...anyKind, ...wordsOfKind.city]),
  amount: new Set([...anyKind, ...wordsOfKind.amount]),
  miles: new Set([...anyKind, ...wordsOfKind.miles]),
  time: new Set([...anyKind, ...wordsOfKind.time]),
  zip: new Set([...anyKind, ...wordsOfKind.zip]),
  equipment: new Set([...anyKind, ...wordsOfKind.equipment]),
}

/** Longer texts are none of the words. */
const WORD_LENGTH_MAX = 30

const isLetter = (code: number) => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)

/**
 * Whether a text says that there is no value: a word such as `N/A` or `TBD`, also in brackets, signs alone such as `--`, or an error of a
 * spreadsheet. A text without characters is not given either.
 *
 * @example isNotGiven('id', 'Spot') // true: no load has this id
 * @example isNotGiven('name', 'Spot') // false: a customer can have this name
 * @example isNotGiven('miles', '0') // false: readers of miles know what zero means
 */
export function isNotGiven(kind: GivenKind, text: string): boolean {
  const trimmed = text.trim()
  if (trimmed.length > WORD_LENGTH_MAX) return false
  // Most cells of a file begin with a letter or a digit, and are no such word.
  const first = trimmed.charCodeAt(0)
  if (first >= 50 && first <= 57) return false
  if (isLetter(first)) {
    return wordSets[kind].has(trimmed.toLowerCase().replace(/\s+/g, ' ')) || isSheetError(trimmed)
  }
  if (isSignsAlone(trimmed) || isSheetError(trimmed)) return true
  if (kind === 'amount' && /^\$\s*[-–—]+$/.test(trimmed)) return true
  const word = trimmed
    .toLowerCase()
    .replace(/^[([<{](.*)[)\]>}]$/, '$1')
    .replace(/\s+/g, ' ')
    .trim()
  return wordSets[kind].has(word) || (zerosOfKind[kind]?.test(word) ?? false)
}

/** Whether a text is only dashes, dots and similar signs, or empty. @example isSignsAlone('--') // true */
export function isSignsAlone(text: string): boolean {
  return /^[-–—−_.?*~\s]*$/.test(text)
}

/**
 * Whether a text is the error that a spreadsheet shows in place of a value: `#REF!`, `#N/A`, `Err:502`, or `####` of a column
 * that was too narrow.
 */
export function isSheetError(text: string): boolean {
  // Each cell of a file passes here, and few begin like an error.
  if (!/^[#e]/i.test(text)) return false
  return (
    /^#(n\/a|ref|value|div\/0|name|num|null|error|spill|calc|getting_data|blocked|unknown|field|busy|connect)[!?]?$/i.test(
      text,
    ) ||
    /^#{2,}$/.test(text) ||
    /^err:\d{3}$/i.test(text)
  )
}

/**
 * Whether a text is a number in scientific notation as a spreadsheet shows long numbers: `1.23457E+11`. The other digits are lost, so
 * different ids look the same.
 */
export function isScientific(text: string): boolean {
  return /^-?\d([.,]\d+)?e\+\d{1,3}$/i.test(text.trim())
}
