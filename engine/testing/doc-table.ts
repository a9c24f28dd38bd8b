/**
 * The cells of the table that follows a `<!-- table: name -->` marker on a page. The first row is the header.
 *
 * @example docTable('<!-- table: a -->\n| x | y |\n|---|---|\n| 1 | 2 |\n\n', 'a') // [['x', 'y'], ['1', '2']]
 */
export function docTable(page: string, name: string): string[][] {
  const [, after = ''] = page.split(`<!-- table: ${name} -->\n`)
  const [block = ''] = after.split('\n\n')
  return block
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('|---'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}
