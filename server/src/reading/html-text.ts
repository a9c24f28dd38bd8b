/** Elements whose text is not shown. */
const unseen = new Set([
  'script',
  'style',
  'head',
  'title',
  'template',
  'noscript',
  'svg',
  'object',
  'select',
  'textarea',
])
const blocks = new Set(
  'p div h1 h2 h3 h4 h5 h6 ul ol table tr address section article header footer pre hr center form'.split(
    ' ',
  ),
)
const empty = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  rarr: '→',
  deg: '°',
  rsquo: '’',
  lsquo: '‘',
  ldquo: '“',
  rdquo: '”',
  bull: '•',
  hellip: '…',
  ntilde: 'ñ',
  eacute: 'é',
  aacute: 'á',
  iacute: 'í',
  oacute: 'ó',
  uacute: 'ú',
  agrave: 'à',
  egrave: 'è',
  ccedil: 'ç',
}
/** Deeper elements are read as if they were not nested. */
const depthMax = 500

function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0x10_ff_ff || code < 32 ? ' ' : String.fromCodePoint(code)
  })
}

/** Text that a reader of the mail does not see: it is not read, either. */
function isHidden(tag: string): boolean {
  const style = /\bstyle\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(tag)
  const rules = (style?.[1] ?? style?.[2] ?? '').toLowerCase().replaceAll(/\s/g, '')
  return (
    /display:none|visibility:hidden|opacity:0(?![.\d])|font-size:[01](?:px|pt|em)?(?![.\d])|max-height:0|mso-hide:all/.test(
      rules,
    ) ||
    /(?:^|;)color:(?:#fff(?:fff)?|white|rgb\(255,255,255\)|transparent)(?:;|!|$)/.test(rules) ||
    /\scolor\s*=\s*["']?(?:#fff(?:fff)?|white)/i.test(tag) ||
    /^<[a-z\d]+\s(?:[^>]*\s)?hidden(?:[\s=>]|$)/i.test(tag)
  )
}

interface Open {
  readonly name: string
  readonly isHidden: boolean
  readonly isQuote: boolean
}

class Writer {
  readonly #open: Open[] = []
  readonly #lines: string[] = []
  #line = ''
  #isCell = false

  get #hidden(): boolean {
    return this.#open.some((one) => one.isHidden)
  }

  text(raw: string): void {
    if (this.#hidden) return
    const text = decoded(raw).replaceAll(/[\s\u00a0]+/g, ' ')
    this.#line += this.#line === '' || this.#line.endsWith('\t') ? text.trimStart() : text
  }

  endLine(): void {
    // Blocks within a cell do not end its row.
    if (this.#isCell) {
      if (!this.#line.endsWith(' ') && !this.#line.endsWith('\t') && this.#line !== '') this.#line += ' '
      return
    }
    const quote = this.#open.filter((one) => one.isQuote).length
    if (this.#line.trim() !== '')
      this.#lines.push(`${'> '.repeat(Math.min(quote, 5))}${this.#line.replace(/(?<! ) +$/, '')}`)
    this.#line = ''
  }

  blank(): void {
    if (!this.#isCell && this.#lines.at(-1) !== '' && this.#lines.length > 0) this.#lines.push('')
  }

  open(name: string, tag: string): void {
    if (name === 'br') this.endLine()
    else if (name === 'td' || name === 'th') {
      // The layout of a mail is often one table of one cell: only cells next to each other are columns.
      if (this.#line !== '' && !this.#hidden) this.#line = `${this.#line.trimEnd()}\t`
      this.#isCell = this.#open.filter((one) => one.name === 'table').length > 0 && !this.#hidden
    } else if (name === 'table' || name === 'tr') {
      this.#isCell = false
      this.endLine()
      if (name === 'table') this.blank()
    } else if (blocks.has(name) || name === 'li' || name === 'blockquote') {
      this.endLine()
      if (name === 'p') this.blank()
      if (name === 'li') this.#line = this.#isCell ? this.#line : '- '
    }
    if (empty.has(name) || tag.endsWith('/>')) return
    const isQuote = name === 'blockquote' || /\bclass\s*=\s*["'][^"']*gmail_quote/i.test(tag)
    if (this.#open.length < depthMax)
      this.#open.push({ name, isHidden: unseen.has(name) || isHidden(tag), isQuote })
  }

  close(name: string): void {
    if (name === 'tr' || name === 'table') this.#isCell = false
    if (blocks.has(name) || name === 'li' || name === 'blockquote') this.endLine()
    if (name === 'p' || name === 'table') this.blank()
    const at = this.#open.findLastIndex((one) => one.name === name)
    if (at >= 0) this.#open.splice(at)
    if ((name === 'td' || name === 'th') && this.#line !== '' && !this.#hidden)
      this.#line = `${this.#line.trimEnd()}\t`
  }

  finish(): string {
    this.#isCell = false
    this.endLine()
    return this.#lines
      .map((line) => line.replace(/(?<!\t)\t+$/, ''))
      .join('\n')
      .trim()
  }
}

/**
 * The text of a mail in HTML, as a person sees it: one line for each row of a table, with tabs between its cells, and `> ` before
 * quoted text. Hidden text is left out.
 *
 * @example textOfHtml('<table><tr><td>Origin</td><td>Dallas, TX</td></tr></table>') // 'Origin\tDallas, TX'
 */
export function textOfHtml(html: string): string {
  const writer = new Writer()
  let at = 0
  while (at < html.length) {
    const tag = html.indexOf('<', at)
    if (tag < 0) break
    writer.text(html.slice(at, tag))
    if (html.startsWith('<!--', tag)) {
      const end = html.indexOf('-->', tag)
      at = end < 0 ? html.length : end + 3
      continue
    }
    const end = html.indexOf('>', tag)
    if (end < 0) return writer.finish()
    const whole = html.slice(tag, end + 1)
    const name = /^<\/?([a-z][a-z\d]*)/i.exec(whole.slice(0, 24))?.[1]?.toLowerCase()
    at = end + 1
    if (name === undefined) {
      if (!/^<[!?/]/.test(whole)) writer.text('<')
      at = /^<[!?/]/.test(whole) ? at : tag + 1
      continue
    }
    if (whole.startsWith('</')) writer.close(name)
    else {
      writer.open(name, whole)
      if (name === 'script' || name === 'style') {
        const close = html.toLowerCase().indexOf(`</${name}`, at)
        at = close < 0 ? html.length : close
      }
    }
  }
  writer.text(html.slice(at))
  return writer.finish()
}
