/** Rows per piece of an export, which bounds its memory. */
export const exportedAtOnce = 10_000

/** A CSV file, one page of lines after the other. */
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
