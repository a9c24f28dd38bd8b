import { parseSync } from 'oxc-parser'

/** A change of one place of a source file, which at least one test should notice. */
export interface Mutant {
  readonly file: string
  readonly line: number
  /** The characters that a mutant replaces, and their replacement. */
  readonly start: number
  readonly end: number
  readonly original: string
  readonly replacement: string
  readonly kind: Kind
}

export type Kind =
  | 'comparison'
  | 'equality'
  | 'arithmetic'
  | 'logical operator'
  | 'condition'
  | 'boolean'
  | 'number'
  | 'unit'
  | 'removed call'
  | 'array method'
  | 'optional chaining'
  | 'default value'
  | 'role'
  | 'outcome'
  | 'tenant filter'
  | 'SQL comparison'
  | 'SQL condition'
  | 'SQL words'

/** The parts of a node of the syntax tree that this file reads. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

const nodeAt = (node: Node, member: string): Node | null => {
  const value = node[member]
  return isNode(value) ? value : null
}
const nodesAt = (node: Node, member: string): Node[] => {
  const value = node[member]
  return Array.isArray(value) ? value.filter(isNode) : []
}
const textAt = (node: Node | null, member: string): string => {
  const value = node?.[member]
  return typeof value === 'string' ? value : ''
}

/** Calls `visit` for `node` and all nodes below, with their parents, the nearest last. Where it returns false, it visits no node below. */
export function walk(
  node: Node,
  visit: (node: Node, parents: readonly Node[]) => boolean,
  parents: readonly Node[] = [],
): void {
  if (!visit(node, parents)) return
  const below = [...parents, node]
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit, below)
  }
}

export const programOf = (file: string, source: string): Node =>
  parseSync(file, source).program as unknown as Node

const comparisons: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
}
const equalities: Readonly<Record<string, string>> = { '===': '!==', '!==': '===', '==': '!=', '!=': '==' }
const arithmetic: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' }
const assignments: Readonly<Record<string, string>> = { '+=': '-=', '-=': '+=', '*=': '/=', '/=': '*=' }
const methods: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  round: 'floor',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  find: 'findLast',
  findLast: 'find',
  push: 'unshift',
}
/** Methods whose call can be left out: the result has the same type. */
const removableMethods = new Set([
  'filter',
  'sort',
  'toSorted',
  'reverse',
  'toReversed',
  'trim',
  'toLowerCase',
  'toUpperCase',
])
/** The replacement of each role, scope and outcome. A role becomes the next one with fewer rights. */
const roles: Readonly<Record<string, string>> = {
  owner: 'admin',
  admin: 'member',
  member: 'viewer',
  viewer: 'member',
}
const scopes: Readonly<Record<string, string>> = {
  'quotes:write': 'integrations:write',
  'integrations:write': 'quotes:write',
  'imports:write': 'quotes:write',
  read: 'imports:write',
}
const outcomes: Readonly<Record<string, string>> = {
  won: 'lost',
  lost: 'won',
  expired: 'lost',
  pending: 'lost',
  cancelled: 'booked',
  voided: 'lost',
}
/** Members of declarations whose values are words for people or examples: they get no mutants. */
const wordsForPeople = new Set([
  'description',
  'summary',
  'tag',
  'title',
  'example',
  'examples',
  'x-expected',
  'name',
  'help',
  'remedy',
])
/** Functions that log or print for operators: no promise of the interface depends on them. */
const logging = /(?:^|\.)(?:log|debug|info|warn|error|write)$/
/** Functions that only align text. */
const layout = /\.(?:padEnd|padStart)$/
/** Functions that only free something early. */
const cleaning = /(?:^|\.)(?:clearTimeout|clearInterval|unref|removeEventListener)$/

/** The replacement of a word, if it is the table's own key: `toString` is not. */
function entry<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined
}

/** Returns every mutant of a source file, in the order of the file. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const found: Mutant[] = []
  const lineStarts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)]
  const lineOf = (at: number) => {
    let [low, high] = [0, lineStarts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((lineStarts[middle] ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return low + 1
  }
  const add = (kind: Kind, start: number, end: number, replacement: string) => {
    const original = source.slice(start, end)
    if (original !== replacement)
      found.push({ file, line: lineOf(start), start, end, original, replacement, kind })
  }
  walk(programOf(file, source), (node, parents) => {
    if (isSkipped(node, parents)) return false
    mutateNode(node, parents, source, add)
    return true
  })
  return found.sort(
    (one, other) => one.start - other.start || one.replacement.localeCompare(other.replacement),
  )
}

export function mutated(source: string, { start, end, original, replacement }: Mutant): string {
  if (source.slice(start, end) !== original) throw new Error(`The source has changed at ${start}.`)
  return source.slice(0, start) + replacement + source.slice(end)
}

type Add = (kind: Kind, start: number, end: number, replacement: string) => void

const valueTypes = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'])

function isSkipped(node: Node, parents: readonly Node[]): boolean {
  const parent = parents.at(-1)
  if (node.type.startsWith('TS') && !valueTypes.has(node.type)) return true
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return true
  if (node.type === 'JSXElement' || node.type === 'JSXFragment') return true
  if (node.type === 'ThrowStatement') return true
  if (node.type === 'CallExpression' && logging.test(calleeText(node))) return true
  if (parent?.type === 'CallExpression' && layout.test(calleeText(parent)) && parent.callee !== node)
    return true
  if (parent?.type === 'Property' && parent.key === node && parent.computed !== true) return true
  if (node.type !== 'Property') return false
  const key = nodeAt(node, 'key')
  return wordsForPeople.has(textAt(key, 'name') || textAt(key, 'value'))
}

function calleeText(call: Node): string {
  const callee = nodeAt(call, 'callee')
  if (callee === null) return ''
  if (callee.type === 'Identifier') return textAt(callee, 'name')
  const object = nodeAt(callee, 'object')
  return `${object?.type === 'Identifier' ? textAt(object, 'name') : ''}.${textAt(nodeAt(callee, 'property'), 'name')}`
}

function mutateNode(node: Node, parents: readonly Node[], source: string, add: Add): void {
  const parent = parents.at(-1)
  switch (node.type) {
    case 'BinaryExpression':
      mutateBinary(node, source, add)
      return
    case 'LogicalExpression':
      mutateLogical(node, source, add)
      return
    case 'AssignmentExpression': {
      const instead = entry(assignments, textAt(node, 'operator'))
      if (instead !== undefined) replaceOperator(node, source, 'arithmetic', instead, add)
      return
    }
    case 'IfStatement':
    case 'ConditionalExpression': {
      const test = nodeAt(node, 'test')
      if (test !== null) add('condition', test.start, test.end, `!(${source.slice(test.start, test.end)})`)
      if (test !== null && node.type === 'IfStatement') add('condition', test.start, test.end, 'false')
      return
    }
    case 'UnaryExpression': {
      const operator = textAt(node, 'operator')
      if (operator === '!' || operator === '-')
        add(operator === '!' ? 'condition' : 'arithmetic', node.start, node.start + 1, '')
      return
    }
    case 'Literal':
      mutateLiteral(node, parents, add)
      return
    case 'ExpressionStatement':
      removeCall(node, add)
      return
    case 'CallExpression':
      mutateCall(node, add)
      return
    case 'MemberExpression': {
      const object = nodeAt(node, 'object')
      if (node.optional === true && node.computed !== true && object !== null)
        add('optional chaining', object.end, object.end + 2, '.')
      return
    }
    case 'TaggedTemplateExpression': {
      const quasi = nodeAt(node, 'quasi')
      const tag = nodeAt(node, 'tag')
      if (quasi !== null && textAt(tag, 'name') === 'sql' && parent !== undefined)
        mutateSql(quasi, source, add)
      return
    }
  }
}

function replaceOperator(node: Node, source: string, kind: Kind, instead: string, add: Add): void {
  const [left, right] = [nodeAt(node, 'left'), nodeAt(node, 'right')]
  const operator = textAt(node, 'operator')
  if (left === null || right === null) return
  const at = source.indexOf(operator, left.end)
  if (at >= 0 && at < right.start) add(kind, at, at + operator.length, instead)
}

function isText(node: Node | null): boolean {
  if (node === null) return false
  if (node.type === 'TemplateLiteral') return true
  if (node.type === 'Literal') return typeof node.value === 'string'
  if (node.type === 'ParenthesizedExpression') return isText(nodeAt(node, 'expression'))
  return node.type === 'BinaryExpression' && (isText(nodeAt(node, 'left')) || isText(nodeAt(node, 'right')))
}

function mutateBinary(node: Node, source: string, add: Add): void {
  const operator = textAt(node, 'operator')
  for (const instead of entry(comparisons, operator) ?? [])
    replaceOperator(node, source, 'comparison', instead, add)
  const equality = entry(equalities, operator)
  if (equality !== undefined) replaceOperator(node, source, 'equality', equality, add)
  const other = entry(arithmetic, operator)
  if (other === undefined || isText(nodeAt(node, 'left')) || isText(nodeAt(node, 'right'))) return
  replaceOperator(node, source, 'arithmetic', other, add)
}

function mutateLogical(node: Node, source: string, add: Add): void {
  const operator = textAt(node, 'operator')
  const [left, right] = [nodeAt(node, 'left'), nodeAt(node, 'right')]
  if (left === null || right === null) return
  if (operator === '&&') replaceOperator(node, source, 'logical operator', '||', add)
  if (operator === '||') replaceOperator(node, source, 'logical operator', '&&', add)
  if (operator === '??') add('default value', node.start, node.end, source.slice(left.start, left.end))
  else add('condition', node.start, node.end, source.slice(left.start, left.end))
}

/** A longer list of numbers is a table of data, and gets no mutants. */
const listMax = 8

function mutateLiteral(node: Node, parents: readonly Node[], add: Add): void {
  const { value } = node
  if (typeof value === 'boolean') add('boolean', node.start, node.end, String(!value))
  if (typeof value === 'number') {
    if (parents.some((one) => one.type === 'ArrayExpression' && nodesAt(one, 'elements').length > listMax))
      return
    if (value < 10) add('number', node.start, node.end, String(value + 1))
    else add('unit', node.start, node.end, `${String(value * 10)}`)
  }
  if (typeof value !== 'string') return
  const role = entry(roles, value)
  if (role !== undefined) add('role', node.start, node.end, `'${role}'`)
  const parent = parents.at(-1)
  const scope = parent?.type === 'Property' && textAt(nodeAt(parent, 'key'), 'name') === 'scope'
  if (scope && Object.hasOwn(scopes, value)) add('role', node.start, node.end, `'${scopes[value]}'`)
  const outcome = entry(outcomes, value)
  if (outcome !== undefined) add('outcome', node.start, node.end, `'${outcome}'`)
  // An operator of the query builder, as in where('a', '<=', b).
  if (parent?.type === 'CallExpression' && nodesAt(parent, 'arguments')[1] === node)
    for (const instead of entry(comparisons, value) ?? [])
      add('SQL comparison', node.start, node.end, `'${instead}'`)
}

/** Removes a statement that only calls a function, unless it writes a log. */
function removeCall(statement: Node, add: Add): void {
  const expression = nodeAt(statement, 'expression')
  const call = expression?.type === 'AwaitExpression' ? nodeAt(expression, 'argument') : expression
  if (call?.type !== 'CallExpression' || nodeAt(call, 'callee')?.type === 'Super') return
  if (!logging.test(calleeText(call)) && !cleaning.test(calleeText(call)))
    add('removed call', statement.start, statement.end, '{}')
}

function mutateCall(call: Node, add: Add): void {
  const callee = nodeAt(call, 'callee')
  const property = callee?.type === 'MemberExpression' ? nodeAt(callee, 'property') : null
  const object = callee?.type === 'MemberExpression' ? nodeAt(callee, 'object') : null
  if (property === null || object === null) return
  const name = textAt(property, 'name')
  const instead = entry(methods, name)
  if (instead !== undefined) add('array method', property.start, property.end, instead)
  if (removableMethods.has(name)) add('array method', object.end, call.end, '')
  if (name === 'where' || name === 'whereRef') {
    const [column] = nodesAt(call, 'arguments')
    const isTenant = /(^|\.)tenant_id$/.test(textAt(column ?? null, 'value'))
    add(isTenant ? 'tenant filter' : 'SQL condition', object.end, call.end, '')
  }
}

/** The character that stands for inserted values. No SQL of ours contains it. */
const hole = '¤'

/** Replacements in SQL text, where inserted values are runs of `hole`. A function gets the text that is replaced. */
const sqlMutations: readonly { kind: Kind; pattern: RegExp; instead: (text: string) => readonly string[] }[] =
  [
    {
      kind: 'SQL comparison',
      pattern: /(?<=\s)(?:<=|>=|<|>)(?=\s)/g,
      instead: (text) => entry(comparisons, text) ?? [],
    },
    { kind: 'SQL comparison', pattern: /(?<=\s)<>(?=\s)/g, instead: () => ['='] },
    { kind: 'SQL words', pattern: /\bis not null\b/g, instead: () => ['is null'] },
    { kind: 'SQL words', pattern: /\bis null\b/g, instead: () => ['is not null'] },
    { kind: 'SQL words', pattern: /\bnot exists\b/g, instead: () => ['exists'] },
    {
      kind: 'SQL words',
      pattern: /\b(?:max|min)(?=\()/g,
      instead: (text) => [text === 'max' ? 'min' : 'max'],
    },
    { kind: 'SQL words', pattern: /\b(?:true|false)\b/g, instead: (text) => [String(text !== 'true')] },
    { kind: 'SQL words', pattern: / desc\b/g, instead: () => [' asc'] },
    { kind: 'SQL words', pattern: /\bcount\(distinct /g, instead: () => ['count('] },
    {
      kind: 'outcome',
      pattern: /'(?:won|lost|pending|expired)'/g,
      instead: (text) => [`'${entry(outcomes, text.slice(1, -1)) ?? ''}'`],
    },
    {
      kind: 'SQL condition',
      pattern:
        /\band (?:[\w.]+ (?:=|<=|>=|<>|<|>) (?:'[^']*'|[\w.]+|¤+)|[\w.]+ is (?:not )?null|not [\w.]+)(?=\s*(?:\n|$|`|\)|and\b|or\b|order\b|group\b|limit\b|for\b))/g,
      instead: () => [''],
    },
    {
      kind: 'tenant filter',
      pattern:
        /\b(?:\w+\.)?tenant_id = (?:¤+|\w+\.tenant_id)(?=\s*(?:\n|$|`|\)|and\b|or\b|order\b|group\b))/g,
      instead: () => ['true'],
    },
  ]

function mutateSql(quasi: Node, source: string, add: Add): void {
  let text = source.slice(quasi.start, quasi.end)
  for (const { start, end } of nodesAt(quasi, 'expressions')) {
    // The place includes `${` and `}`.
    const [from, to] = [start - quasi.start - 2, source.indexOf('}', end) + 1 - quasi.start]
    text = text.slice(0, from) + hole.repeat(to - from) + text.slice(to)
  }
  for (const { kind, pattern, instead } of sqlMutations) {
    for (const { index, 0: match } of text.matchAll(pattern)) {
      // A tenant condition has its own mutation.
      if (kind === 'SQL condition' && match.includes('tenant_id')) continue
      const [start, end] = [quasi.start + index, quasi.start + index + match.length]
      for (const replacement of instead(match)) add(kind, start, end, replacement)
    }
  }
}
