import { type ProblemCode, problems, problemType } from '#contract/errors.ts'
import { removedAddresses } from '#contract/removed-addresses.ts'
import { escaped, plainPage } from './plain-page.ts'

/** The page at a Problem's `type` URL: what the problem means and what to do. */
export function problemPage(code: ProblemCode): string {
  const { title, status, remedy } = problems[code]
  return plainPage(
    title,
    `<p><a href="/problems">All problems</a></p><h1>${escaped(title)}</h1><p><strong>What to do:</strong> ${escaped(remedy)}</p><table><tr><th>Status</th><td>${status}</td></tr><tr><th>Code</th><td><code>${code}</code></td></tr><tr><th>type</th><td><code>${escaped(problemType(code))}</code></td></tr></table>${code === 'route-not-found' ? removedTable() : ''}<p>The response has more in <code>detail</code> and lists each invalid field in <code>errors</code>. Include its <code>request_id</code> when you ask for help. <a href="/docs/">Reference</a></p>`,
  )
}

/** The addresses of earlier versions, and what to use instead. */
function removedTable(): string {
  const rows = removedAddresses.map(
    ({ methods, path, instead }) =>
      `<tr><td>${methods.join(', ')}</td><td><code>${escaped(path)}</code></td><td>${escaped(instead)}</td></tr>`,
  )
  return `<h2>Removed addresses</h2><table><tr><th>Methods</th><th>Address</th><th>Use instead</th></tr>${rows.join('')}</table>`
}

export function problemListPage(): string {
  const rows = (Object.keys(problems) as ProblemCode[])
    .toSorted((one, other) => problems[one].status - problems[other].status)
    .map((code) => {
      const { status, title, remedy } = problems[code]
      return `<tr><td>${status}</td><td><a href="/problems/${code}"><code>${code}</code></a></td><td>${escaped(title)}. ${escaped(remedy)}</td></tr>`
    })
  return plainPage(
    'Problems',
    `<h1>What can go wrong, and what to do</h1><table><tr><th>Status</th><th>Code</th><th>What to do</th></tr>${rows.join('')}</table>`,
  )
}
