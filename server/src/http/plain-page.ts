import { createHash } from 'node:crypto'

/** Pages of the service without a script, which load nothing: the problems, and the reference. */

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;color:#1c2733;background:#fff}' +
  'body.wide{max-width:70rem}code{background:#eef1f4;padding:.1em .3em;border-radius:4px;overflow-wrap:anywhere}' +
  'pre{background:#eef1f4;padding:.7rem;border-radius:4px;overflow-x:auto}pre code{padding:0;overflow-wrap:normal}' +
  'td,th{text-align:left;padding:.3rem 1rem .3rem 0;vertical-align:top}h2{margin-top:3rem}h3{margin-top:2.5rem}summary{cursor:pointer}' +
  '@media(prefers-color-scheme:dark){body{color:#e6e9ec;background:#14191f}code,pre{background:#26303a}a{color:#8cb8ff}}'

/** Allows this style only. The pages have no script and load nothing. */
export const plainPagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** A page with a title and content, which is HTML. */
export function plainPage(title: string, content: string, { wide = false } = {}): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)} - Lanewise</title><style>${style}</style></head><body${wide ? ' class="wide"' : ''}>${content}</body></html>`
}
