import { isAt, pageNames, pagePaths, placeOf, places } from '#contract/pages.ts'

const placeOfOutline = '<!--outline-->'

/** The pages without the frame of the dashboard, because nobody is signed in yet. */
const unframed: ReadonlySet<string> = new Set([pagePaths.signIn, pagePaths.signUp, pagePaths.invitation])

/** The places that everyone sees, in the order of the menu. The other links of the menu follow below them. */
const everyones = places.filter(({ needs }) => needs === 'viewer')

/**
 * The HTML of the dashboard for a path of `pagePaths`, with an outline of the frame: menu, and heading of the page. The
 * browser shows it as soon as it has the styles, while it still loads and runs the scripts. The dashboard removes it when
 * the page itself is drawn. The list of quotes has a heading for screen readers only. It is a picture only: hidden from assistive technology, without links. Null is an unknown path,
 * which gets no outline, like the pages without a frame.
 *
 * @example withOutline(html, '/market') // … Market …
 */
export function withOutline(html: string, path: string | null): string {
  return html.replace(placeOfOutline, path === null || unframed.has(path) ? '' : outline(path))
}

function outline(path: string): string {
  const name = new Map<string, string>(Object.entries(pageNames)).get(path)
  const menu = everyones.map(({ label, pages }) => {
    const isActive = pages.some((page) => isAt(page.path, path))
    return `<div${isActive ? ' class="active"' : ''}>${label}</div>`
  })
  const sections = (placeOf(path)?.pages ?? []).filter(({ needs }) => needs === 'viewer')
  const links = sections.map((page) => `<span>${pageNames[page.path]}</span>`)
  return [
    '<div id="outline" aria-hidden="true">',
    '<div class="outline-header"><b>Lanewise</b></div>',
    `<div class="outline-menu">${menu.join('')}</div>`,
    sections.length < 2 ? '' : `<div class="outline-sections">${links.join('')}</div>`,
    name === undefined || path === pagePaths.quotes ? '' : `<div class="outline-heading">${name}</div>`,
    '</div>',
  ].join('')
}
