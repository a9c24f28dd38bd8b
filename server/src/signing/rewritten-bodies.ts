import { jsonDepthMax, jsonKeysMax } from '#contract/limits.ts'
import { readJsonObject } from './strict-json.ts'

/** A text that a body may have had when it was signed, and what happened to it since, as a sentence. */
export interface RewrittenBody {
  readonly text: string
  readonly detail: string
  readonly remedy: string
}

const sameBytes = 'Serialise the body once, keep these bytes, sign them and send them as they are.'
const lineEnds =
  'Sign and send the same bytes; read files as bytes and let no tool change their line ends (curl: --data-binary).'

/**
 * The texts that usual tools make of a body between signing and sending: other white space, the same JSON written
 * another way, the printed form of an object. Each differs from the body and from the others.
 *
 * @example rewrittenBodies('{"a": 1}').some(({ text }) => text === '{"a":1}') // true
 */
export function rewrittenBodies(body: string): RewrittenBody[] {
  const seen = new Set([body])
  const root = readTree(body)
  return [...otherWhiteSpace(body), ...otherJson(root), ...printedForms(body, root)].filter(({ text }) => {
    const isNew = !seen.has(text)
    seen.add(text)
    return isNew
  })
}

function otherWhiteSpace(body: string): RewrittenBody[] {
  const added = (what: string) => `The body as sent has ${what} that was not there when it was signed.`
  const taken = (what: string) => `The body was signed with ${what} that is not there in what was sent.`
  const unix = body.replaceAll('\r\n', '\n')
  const end = [
    [`${body}\n`, taken('a line end behind it (echo adds one; printf does not)')],
    [`${body}\r\n`, taken('a line end behind it')],
    [`${body} `, taken('a space behind it')],
    [body.replace(/\r?\n$/, ''), added('a line end behind it')],
    [body.trimEnd(), added('white space behind it')],
    [body.trim(), added('white space around it')],
  ] as const
  const mark = [
    [`\uFEFF${body}`, taken('a byte-order mark in front')],
    [body.replace(/^\uFEFF/, ''), added('a byte-order mark in front')],
  ] as const
  const ends = [
    [unix, 'The body was sent with Windows line ends (CR LF) and signed with LF alone.'],
    [
      unix.replaceAll('\n', '\r\n'),
      'The body was signed with Windows line ends (CR LF) and sent with LF alone.',
    ],
    // curl's -d @file takes line ends out.
    [body.replaceAll(/[\r\n]/g, ''), added('line ends')],
  ] as const
  return [...mark, ...end, ...ends].map(([text, detail]) => ({ text, detail, remedy: lineEnds }))
}

/** How somebody's library writes JSON. */
interface Style {
  readonly item: string
  readonly colon: string
  /** With it every member has a line of its own. */
  readonly indent?: string
  readonly sorted?: boolean
  /** Writes a text or a number, given as it stands in the body. */
  readonly scalar?: (lexeme: string) => string
}

const compact: Style = { item: ',', colon: ':' }
const python: Style = { item: ', ', colon: ': ' }
const pretty = (indent: string): Style => ({ item: ',', colon: ': ', indent })

const escaped = (lexeme: string) =>
  lexeme.replaceAll(/[\u007F-\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
const parsed = (lexeme: string) => JSON.stringify(JSON.parse(lexeme))
const slashed = (lexeme: string) => lexeme.replaceAll('/', '\\/')
const forHtml = (lexeme: string) =>
  lexeme.replaceAll(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)

const pythonWay = 'with ", " and ": " between its members, as json.dumps of Python writes it by default'
const styles: readonly (readonly [Style, string])[] = [
  [compact, 'without spaces'],
  [python, pythonWay],
  [pretty('  '), 'over several lines, indented by two spaces'],
  [pretty('    '), 'over several lines, indented by four spaces'],
  [pretty('\t'), 'over several lines, indented by tabs'],
  [{ ...compact, scalar: parsed }, 'without spaces, its numbers and texts as JavaScript writes them'],
  [{ ...python, scalar: parsed }, `${pythonWay}, its texts unescaped`],
  [
    { ...pretty('  '), scalar: parsed },
    'over several lines, its numbers and texts as JavaScript writes them',
  ],
  [{ ...compact, sorted: true }, 'without spaces, its keys in alphabetical order'],
  [{ ...python, sorted: true }, `${pythonWay}, its keys in alphabetical order`],
  [{ ...pretty('  '), sorted: true }, 'over several lines, its keys in alphabetical order'],
  [{ ...pretty('    '), sorted: true }, 'over several lines, its keys in alphabetical order'],
  [{ ...compact, scalar: escaped }, 'without spaces, letters outside ASCII as \\u codes'],
  [{ ...python, scalar: escaped }, `${pythonWay}, letters outside ASCII as \\u codes`],
  [
    { ...python, sorted: true, scalar: escaped },
    `${pythonWay}, its keys in alphabetical order, letters outside ASCII as \\u codes`,
  ],
  [{ ...compact, scalar: slashed }, 'with "/" as "\\/", as json_encode of PHP writes it'],
  [
    { ...compact, scalar: (lexeme) => escaped(slashed(lexeme)) },
    'with "/" as "\\/" and letters outside ASCII as \\u codes, as json_encode of PHP writes it',
  ],
  [
    { ...compact, sorted: true, scalar: forHtml },
    'its keys in alphabetical order and "<", ">", "&" as \\u codes, as Go writes it',
  ],
]

function otherJson(root: Tree | null): RewrittenBody[] {
  if (root === null) return []
  return styles.map(([style, how]) => ({
    text: written(root, style, ''),
    detail: `The signature fits the same JSON written another way: ${how}. The body was serialised a second time between signing and sending.`,
    remedy: sameBytes,
  }))
}

function printedForms(body: string, root: Tree | null): RewrittenBody[] {
  const forms: RewrittenBody[] = [
    {
      text: `b'${body}'`,
      detail: `The text that was signed holds b'...': Python's printed form of bytes, put into a text.`,
      remedy:
        'Join bytes with bytes: timestamp.encode() + b"." + body, not a formatted text that holds the bytes.',
    },
    {
      text: '[object Object]',
      detail: 'The text that was signed holds "[object Object]": an object was put into a text as it is.',
      remedy: 'Serialise the body first (JSON.stringify), then sign and send that text.',
    },
    {
      text: '',
      detail: 'It was signed with an empty body: the signer did not see the body that was sent.',
      remedy: 'Hand the signer the bytes that are sent; in a proxy or a hook, read the body first.',
    },
  ]
  if (root === null) return forms
  return [
    ...forms,
    {
      text: written(root, { ...python, scalar: pythonLiteral }, ''),
      detail: "The text that was signed is Python's printed form of a dict, with single quotes.",
      remedy: 'Serialise with json.dumps first, then sign and send that text.',
    },
    {
      text: JSON.stringify(body),
      detail: 'The body was serialised twice before it was signed: it is a JSON text inside a JSON text.',
      remedy: sameBytes,
    },
  ]
}

function pythonLiteral(lexeme: string): string {
  if (lexeme.startsWith('"')) return `'${String(JSON.parse(lexeme))}'`
  const words: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }
  return words[lexeme] ?? lexeme
}

/** A JSON value whose texts and numbers stay as they stand in the body: 2150.00 is not 2150 when it is signed. */
type Tree =
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Tree])[] }
  | { readonly kind: 'array'; readonly items: readonly Tree[] }
  | { readonly kind: 'scalar'; readonly lexeme: string }

/** A byte-order mark counts as white space here. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Null for anything but one JSON object within the limits of a body: then the depth below is bounded, too. */
function readTree(body: string): Tree | null {
  try {
    readJsonObject(Buffer.from(body.replace(/^\uFEFF/, '')), { depthMax: jsonDepthMax, keysMax: jsonKeysMax })
  } catch {
    return null
  }
  const tokens = body.match(token) ?? []
  let at = 0

  function value(): Tree {
    const first = tokens[at++] ?? ''
    if (first === '[') {
      const items: Tree[] = []
      while (tokens[at] !== ']') {
        items.push(value())
        if (tokens[at] === ',') at++
      }
      at++
      return { kind: 'array', items }
    }
    if (first !== '{') return { kind: 'scalar', lexeme: first }
    const members: [string, Tree][] = []
    while (tokens[at] !== '}') {
      const key = tokens[at] ?? ''
      // Over the key and its colon.
      at += 2
      members.push([key, value()])
      if (tokens[at] === ',') at++
    }
    at++
    return { kind: 'object', members }
  }
  return value()
}

function written(tree: Tree, style: Style, margin: string): string {
  const scalar = style.scalar ?? ((lexeme: string) => lexeme)
  if (tree.kind === 'scalar') return scalar(tree.lexeme)
  const inner = style.indent === undefined ? '' : `${margin}${style.indent}`
  const parts =
    tree.kind === 'array'
      ? tree.items.map((item) => written(item, style, inner))
      : inOrder(tree.members, style).map(
          ([key, member]) => `${scalar(key)}${style.colon}${written(member, style, inner)}`,
        )
  const [open, close] = tree.kind === 'array' ? ['[', ']'] : ['{', '}']
  if (parts.length === 0) return `${open}${close}`
  if (style.indent === undefined) return `${open}${parts.join(style.item)}${close}`
  return `${open}\n${inner}${parts.join(`${style.item}\n${inner}`)}\n${margin}${close}`
}

function inOrder(members: readonly (readonly [string, Tree])[], { sorted }: Style) {
  return sorted === true ? members.toSorted(([one], [other]) => (one < other ? -1 : 1)) : members
}
