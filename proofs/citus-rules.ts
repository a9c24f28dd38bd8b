import type pg from 'pg'

/**
 * The rules of Citus for functions in statements that write. They concern the statement and not its plan, so the tests apply them to
 * the parse trees that PostgreSQL reports with `debug_print_rewritten`. They are the rules of Citus 13.2:
 * TargetlistAndFunctionsSupported, MasterIrreducibleExpression and ErrorIfOnConflictNotSupported in multi_router_planner.c.
 */

/** A node of a parse tree: its kind, and its fields. */
interface TreeNode {
  readonly kind: string
  readonly fields: Readonly<Record<string, readonly TreeValue[]>>
}
type TreeValue = TreeNode | readonly TreeValue[] | string

const isNode = (value: TreeValue): value is TreeNode => typeof value === 'object' && 'kind' in value

/** Parses the text of a parse tree, such as `{CONST :consttype 23 :constvalue 4 [ 1 0 0 0 ]}`. */
export function readTree(text: string): TreeValue {
  const tokens = text.match(/[{}()[\]]|(?:\\.|[^\s{}()[\]\\])+/gs) ?? []
  let at = 0
  const value = (): TreeValue => {
    const token = tokens[at++] ?? ''
    if (token === '(' || token === '[') {
      const list: TreeValue[] = []
      while (at < tokens.length && tokens[at] !== ')' && tokens[at] !== ']') list.push(value())
      at++
      return list
    }
    if (token !== '{') return token
    const kind = tokens[at++] ?? ''
    const fields: Record<string, TreeValue[]> = {}
    let values: TreeValue[] = []
    while (at < tokens.length && tokens[at] !== '}') {
      const next = tokens[at] ?? ''
      if (next.startsWith(':')) {
        at++
        values = []
        fields[next.slice(1)] = values
      } else values.push(value())
    }
    at++
    return { kind, fields }
  }
  return value()
}

/** What the rules read from PostgreSQL's catalog. */
export interface KnownFunctions {
  /** The volatility by function number: immutable (`i`), stable (`s`) or volatile (`v`). */
  readonly volatility: ReadonlyMap<string, string>
  /** The function that reads a type from text, by the number of the type. */
  readonly conversions: ReadonlyMap<string, string>
  /** The names of the tables that are distributed, by their numbers. */
  readonly tables: ReadonlyMap<string, string>
}

export async function knownFunctions(
  client: pg.ClientBase,
  distributed: ReadonlySet<string>,
): Promise<KnownFunctions> {
  const functions = await client.query<{ oid: string; volatile: string }>(
    'select oid::text, provolatile as volatile from pg_proc',
  )
  const types = await client.query<{ oid: string; reads: string }>(
    'select oid::text, typinput::oid::text as reads from pg_type',
  )
  const tables = await client.query<{ oid: string; name: string }>(
    `select oid::text, relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relname = any ($1)`,
    [[...distributed]],
  )
  return {
    volatility: new Map(functions.rows.map(({ oid, volatile }) => [oid, volatile])),
    conversions: new Map(types.rows.map(({ oid, reads }) => [oid, reads])),
    tables: new Map(tables.rows.map(({ oid, name }) => [oid, name])),
  }
}

const allNodes = (value: TreeValue): readonly TreeNode[] => {
  if (typeof value === 'string') return []
  const inner = isNode(value) ? Object.values(value.fields).flat() : value
  return [...(isNode(value) ? [value] : []), ...inner.flatMap(allNodes)]
}
const field = (node: TreeNode, name: string): string => {
  const [first] = node.fields[name] ?? []
  return typeof first === 'string' ? first : ''
}

/** Finds what Citus refuses in statements that write to distributed tables. */
export function citusFaults(tree: TreeValue, known: KnownFunctions): string[] {
  return allNodes(tree)
    .filter(({ kind }) => kind === 'QUERY')
    .flatMap((query) => queryFaults(query, known))
}

function queryFaults(query: TreeNode, known: KnownFunctions): string[] {
  // The kinds of commands: 2 is an update, 3 an insert, 4 a delete.
  const command = field(query, 'commandType')
  const tables = (query.fields.rtable ?? []).flat() as TreeNode[]
  const target = tables[Number(field(query, 'resultRelation')) - 1]
  const table = known.tables.get(target === undefined ? '' : field(target, 'relid'))
  if (!['2', '3', '4'].includes(command) || table === undefined) return []
  const has = (value: TreeValue, wanted: string) =>
    allNodes(value).some((node) => functionsOf(node, known).some((each) => wanted.includes(each)))
  const values = query.fields.targetList ?? []
  const conditions = query.fields.jointree ?? []
  const isFromQuery = command === '3' && tables.some((each) => field(each, 'rtekind') === '1')
  return [
    ...(command === '2' && has(values, 'v') ? ['a volatile function in an update'] : []),
    ...(command === '3' && !isFromQuery && field(query, 'hasSubLinks') === 'true'
      ? ['a subquery in the values of an insert']
      : []),
    ...(isFromQuery && has(query.fields.rtable ?? [], 'v')
      ? ['a volatile function in an insert from a query']
      : []),
    ...(command !== '3' && has(conditions, 'v') ? ['a volatile function in a condition'] : []),
    ...(command === '2' ? irreducible(values, known) : []),
    ...(command === '3' ? [] : irreducible(conditions, known)),
    ...(has(query.fields.returningList ?? [], 'sv') ? ['a function that is not immutable in returning'] : []),
    ...((query.fields.onConflict ?? [])
      .flatMap(allNodes)
      .some((node) => functionsOf(node, known).some((each) => each !== 'i'))
      ? ['a function that is not immutable in on conflict']
      : []),
  ].map((fault) => `${table}: ${fault}`)
}

/** The volatilities of the functions that a node itself calls, not its inner nodes. */
function functionsOf(node: TreeNode, known: KnownFunctions): readonly string[] {
  const of = (oid: string) => known.volatility.get(oid) ?? 'i'
  switch (node.kind) {
    case 'FUNCEXPR':
      return [of(field(node, 'funcid'))]
    case 'OPEXPR':
    case 'DISTINCTEXPR':
    case 'NULLIFEXPR':
    case 'SCALARARRAYOPEXPR':
      return [of(field(node, 'opfuncid'))]
    case 'AGGREF':
      return [of(field(node, 'aggfnoid'))]
    case 'COERCEVIAIO':
      return [of(known.conversions.get(field(node, 'resulttype')) ?? '')]
    case 'SQLVALUEFUNCTION':
      return ['s']
    case 'NEXTVALUEEXPR':
      return ['v']
    default:
      return []
  }
}

/** Finds CASE or COALESCE with a function that is not immutable, and stable functions with a column as argument. */
function irreducible(value: TreeValue, known: KnownFunctions): string[] {
  if (typeof value === 'string') return []
  if (!isNode(value)) return value.flatMap((each) => irreducible(each, known))
  const mutable = (node: TreeNode) => functionsOf(node, known).some((each) => each !== 'i')
  const inner = Object.values(value.fields).flat()
  if (
    value.kind === 'CASE' ||
    value.kind === 'CASEEXPR' ||
    value.kind === 'COALESCE' ||
    value.kind === 'COALESCEEXPR'
  )
    return allNodes(value).some(mutable) ? ['a function that is not immutable in CASE or COALESCE'] : []
  if (mutable(value) && inner.flatMap(allNodes).some(({ kind }) => kind === 'VAR'))
    return ['a stable function of a column']
  return inner.flatMap((each) => irreducible(each, known))
}
