import { isNode, type Node, programOf, walk } from './mutations.ts'

/**
 * Finds which test file reaches which code. A copy of each source file marks its blocks: functions, branches, and the parts of
 * conditional expressions. Each test file records the blocks that ran during its run.
 */

/** A part of a file that runs or does not run as a whole. */
export interface Block {
  readonly start: number
  readonly end: number
}

const bodies = new Set(['FunctionBody', 'BlockStatement'])

/** Returns the blocks of a file, outer ones before inner ones. Code outside of all blocks runs when the file is loaded. */
export function blocksOf(file: string, source: string): Block[] {
  return placesOf(file, source).map(({ start, end }) => ({ start, end }))
}

/** `rest` is the part of a block after a statement that may leave it, such as an early return. */
type Place = Block & { readonly form: 'body' | 'rest' | 'statement' | 'expression' }

const leaving = new Set(['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement'])

/** Whether a statement may leave its block early. */
function mayLeave(statement: Node): boolean {
  let found = false
  walk(statement, (node) => {
    found ||= leaving.has(node.type)
    return !found && !/Function/.test(node.type)
  })
  return found
}

function placesOf(file: string, source: string): Place[] {
  const places: Place[] = []
  walk(programOf(file, source), (node, parents) => {
    if (node.type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)Expression$/.test(node.type)) return false
    const parent = parents.at(-1)
    if (bodies.has(node.type)) {
      places.push({ start: node.start, end: node.end, form: 'body' })
      const statements = Array.isArray(node.body) ? node.body.filter(isNode) : []
      statements.forEach((statement, index) => {
        const before = statements[index - 1]
        if (before !== undefined && mayLeave(before))
          places.push({ start: statement.start, end: node.end - 1, form: 'rest' })
      })
    } else if (parent?.type === 'ArrowFunctionExpression' && parent.body === node)
      places.push({ start: node.start, end: node.end, form: 'expression' })
    else if (parent?.type === 'IfStatement' && (parent.consequent === node || parent.alternate === node))
      places.push({ start: node.start, end: node.end, form: 'statement' })
    else if (parent?.type === 'ConditionalExpression' && parent.test !== node)
      places.push({ start: node.start, end: node.end, form: 'expression' })
    else if (parent?.type === 'LogicalExpression' && parent.right === node)
      places.push({ start: node.start, end: node.end, form: 'expression' })
    return true
  })
  return places.sort((one, other) => one.start - other.start || other.end - one.end)
}

/** Returns the source with a call of `lanewiseReach` at the start of each block. The first block has the number `first`. */
export function marked(file: string, source: string, first: number): string {
  const before = new Map<number, string>()
  const after = new Map<number, string>()
  const inserted: { at: number; text: string }[] = []
  placesOf(file, source).forEach(({ start, end, form }, index) => {
    const call = `globalThis.lanewiseReach?.(${first + index})`
    if (form === 'body') {
      inserted.push({ at: afterDirectives(source, start), text: `${call};` })
      return
    }
    if (form === 'rest') {
      inserted.push({ at: start, text: `;${call};` })
      return
    }
    const [open, close] = form === 'statement' ? [`{${call};`, '}'] : [`(${call},`, ')']
    before.set(start, `${before.get(start) ?? ''}${open}`)
    after.set(end, `${close}${after.get(end) ?? ''}`)
  })
  const points = new Map<number, string>()
  const put = (at: number, text: string) => points.set(at, `${points.get(at) ?? ''}${text}`)
  // Where one block ends and the next begins, the end is inserted first.
  for (const [at, text] of after) put(at, text)
  for (const { at, text } of inserted) put(at, text)
  for (const [at, text] of before) put(at, text)
  let made = ''
  let last = 0
  for (const [at, text] of [...points].sort(([one], [other]) => one - other)) {
    made += source.slice(last, at) + text
    last = at
  }
  return made + source.slice(last)
}

/** Returns the place in a body after `{` and a possible `'use strict'`. */
function afterDirectives(source: string, start: number): number {
  const directive = /^\{\s*'use \w+';?/.exec(source.slice(start, start + 40))
  return start + (directive === null ? 1 : directive[0].length)
}

/** Returns the number of the innermost block around a place, or -1 outside of all blocks. */
export function innermost(blocks: readonly Block[], { start, end }: Block): number {
  return blocks.findLastIndex((block) => block.start <= start && end <= block.end)
}

/** Returns the modules that a file imports, as they are written. */
export function importsIn(file: string, source: string): string[] {
  const found: string[] = []
  walk(programOf(file, source), (node) => {
    const from = node.source
    if (
      isNode(from) &&
      typeof from.value === 'string' &&
      node.importKind !== 'type' &&
      node.exportKind !== 'type'
    )
      found.push(from.value)
    return node.type === 'Program' || node.type === 'ImportExpression' || !node.type.startsWith('TS')
  })
  return found
}
