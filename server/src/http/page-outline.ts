import { pageNames, pagePaths } from '#contract/pages.ts'

const placeOfOutline = '<!--outline-->'

/** The pages without the frame of the dashboard: nobody is signed in yet. */
const unframed: ReadonlySet<string> = new Set([pagePaths.signIn, pagePaths.signUp, pagePaths.invitation])

/** The links that everyone sees, in the order of the menu. The other links of the menu follow below them. */
const links = [
  pagePaths.desk,
  pagePaths.quotes,
  pagePaths.shipments,
  pagePaths.lane,
  pagePaths.performance,
  pagePaths.customers,
  pagePaths.market,
  pagePaths.rules,
  pagePaths.imports,
  pagePaths.team,
  pagePaths.settings,
] as const

/**
 * The HTML of the dashboard for a path of `pagePaths`, with an outline of the frame: menu, and heading of the page. The
 * browser shows it as soon as it has the styles, while it still loads and runs the scripts. The dashboard removes it when
 * the page itself is drawn. It is a picture only: hidden from assistive technology, without links. Null is an unknown path,
 * which gets no outline, like the pages without a frame.
 *
 * @example withOutline(html, '/quotes') // … <h1>Quotes</h1> …
 */
export function withOutline(html: string, path: string | null): string {
  return html.replace(placeOfOutline, path === null || unframed.has(path) ? '' : outline(path))
}

function outline(path: string): string {
  const name = new Map<string, string>(Object.entries(pageNames)).get(path)
  const isActive = (link: string) => link === path || (link !== pagePaths.desk && path.startsWith(`${link}/`))
  const menu = [
    ...links.map((link) => `<div${isActive(link) ? ' class="active"' : ''}>${pageNames[link]}</div>`),
    '<div>API reference</div>',
  ]
  return [
    '<div id="outline" aria-hidden="true">',
    '<div class="outline-header"><b>Lanewise</b></div>',
    `<div class="outline-menu">${menu.join('')}</div>`,
    name === undefined ? '' : `<div class="outline-heading">${name}</div>`,
    '</div>',
  ].join('')
}
