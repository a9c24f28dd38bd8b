import { createHash } from 'node:crypto'
import { type ProblemCode, problems, problemType } from '#contract/errors.ts'

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;color:#1c2733;background:#fff}' +
  'code{background:#eef1f4;padding:.1em .3em;border-radius:4px}td,th{text-align:left;padding:.3rem 1rem .3rem 0;vertical-align:top}' +
  '@media(prefers-color-scheme:dark){body{color:#e6e9ec;background:#14191f}code{background:#26303a}a{color:#8cb8ff}}'

/** Allows this style only. The pages have no script and load nothing. */
export const problemPagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

function page(title: string, content: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)} - Lanewise</title><style>${style}</style></head><body>${content}</body></html>`
}

/** The page at a Problem's `type` URL: what the problem means and what to do. */
export function problemPage(code: ProblemCode): string {
  const { title, status, remedy } = problems[code]
  return page(
    title,
    `<p><a href="/problems">All problems</a></p><h1>${escaped(title)}</h1><p><strong>What to do:</strong> ${escaped(remedy)}</p><table><tr><th>Status</th><td>${status}</td></tr><tr><th>Code</th><td><code>${code}</code></td></tr><tr><th>type</th><td><code>${escaped(problemType(code))}</code></td></tr></table><p>The response has more in <code>detail</code> and lists each invalid field in <code>errors</code>. Include its <code>request_id</code> when you ask for help. <a href="/docs/">Reference</a></p>`,
  )
}

/** The list of all problems, by status. */
export function problemListPage(): string {
  const rows = (Object.keys(problems) as ProblemCode[])
    .toSorted((one, other) => problems[one].status - problems[other].status)
    .map((code) => {
      const { status, title, remedy } = problems[code]
      return `<tr><td>${status}</td><td><a href="/problems/${code}"><code>${code}</code></a></td><td>${escaped(title)}. ${escaped(remedy)}</td></tr>`
    })
  return page(
    'Problems',
    `<h1>What can go wrong, and what to do</h1><table><tr><th>Status</th><th>Code</th><th>What to do</th></tr>${rows.join('')}</table>`,
  )
}
