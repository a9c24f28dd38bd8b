import type { Steps } from '#engine/steps.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'

/** Rows that an export reads from the database at once, which bounds its memory. */
export const rowsExportedAtOnce = 1_000
/** Groups that an export of statistics computes at once. */
export const groupsExportedAtOnce = 10_000

/** The text of a CSV file, made page by page. The lines of a page are made in steps. */
export async function* csvPages<Cursor>(
  head: string,
  page: (cursor: Cursor | null) => Promise<{ lines: Steps<string>; next: Cursor | null }>,
): AsyncGenerator<string, void> {
  let before = head
  let cursor: Cursor | null = null
  for (;;) {
    const { lines, next }: Awaited<ReturnType<typeof page>> = await page(cursor)
    yield before + (await yieldBetweenSteps(lines))
    if (next === null) return
    before = ''
    cursor = next
  }
}
