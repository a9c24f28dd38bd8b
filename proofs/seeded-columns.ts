import type pg from 'pg'

export interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly nullable: boolean
  readonly hasDefault: boolean
}

/** Returns the columns of all tables, except generated columns. */
export async function columnsOf(owner: pg.Client): Promise<readonly Column[]> {
  const { rows } = await owner.query<Column>(`
    select c.table_name as table, c.column_name as name, c.data_type as type,
           c.is_nullable = 'YES' as nullable, c.column_default is not null as "hasDefault"
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
    order by c.table_name, c.ordinal_position`)
  return rows
}
