/** Rows that an export reads from the database at once, which bounds its memory. */
export const rowsExportedAtOnce = 1_000
/** Groups that an export of statistics computes at once. */
export const groupsExportedAtOnce = 10_000

/** The text of a CSV file, made page by page. */
export async function* csvPages<Cursor>(
  head: string,
  page: (cursor: Cursor | null) => Promise<{ lines: string; next: Cursor | null }>,
): AsyncGenerator<string, void> {
  let before = head
  let cursor: Cursor | null = null
  for (;;) {
    const { lines, next }: { lines: string; next: Cursor | null } = await page(cursor)
    yield before + lines
    if (next === null) return
    before = ''
    cursor = next
  }
}
