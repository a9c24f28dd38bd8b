import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { movedPages, pagePaths } from '#contract/pages.ts'
import { withOutline } from './page-outline.ts'

/** The output folder of the dashboard's build. */
const builtFolder = fileURLToPath(new URL('../../../dashboard/dist/', import.meta.url))

const placeOfNonce = '{{STYLE_NONCE}}'

/**
 * Allows scripts, images and calls of this origin only. Inline scripts are forbidden, and inline styles need the nonce
 * of the page.
 */
function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** The built dashboard: one application at each of its URLs, and its assets. */
export interface Dashboard {
  routes(app: FastifyInstance): Promise<void>
  /** Sends the application; `path` is the page of `pagePaths`, or null for an unknown address. */
  sendPage(reply: FastifyReply, path?: string | null): FastifyReply
}

/** Null when the dashboard is not built; the service works without it. */
export function builtDashboard(folder = builtFolder): Dashboard | null {
  if (!existsSync(`${folder}index.html`)) return null
  const page = readFileSync(`${folder}index.html`, 'utf8')
  const pages = new Map<string | null, string>(
    [null, ...Object.values(pagePaths)].map((path) => [path, withOutline(page, path)] as const),
  )
  const sendPage = (reply: FastifyReply, path: string | null = null) => {
    const nonce = randomBytes(16).toString('base64')
    return reply
      .headers({
        'Content-Security-Policy': pagePolicy(nonce),
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Resource-Policy': 'same-origin',
        'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
      })
      .type('text/html; charset=utf-8')
      .send((pages.get(path) ?? page).replace(placeOfNonce, nonce))
  }
  return {
    sendPage,
    async routes(app) {
      for (const path of Object.values(pagePaths)) {
        app.get(path.replaceAll(/\{(\w+)\}/g, ':$1'), (request, reply) => {
          const moved = newAddressOf(request.url)
          return moved === null ? sendPage(reply, path) : reply.redirect(moved, 301)
        })
      }
      const pages: ReadonlySet<string> = new Set(Object.values(pagePaths))
      for (const from of new Set(movedPages.map((moved) => moved.from))) {
        if (pages.has(from)) continue
        app.get(from, (request, reply) => reply.redirect(newAddressOf(request.url) ?? pagePaths.desk, 301))
      }
      await app.register(files, {
        root: `${folder}assets`,
        prefix: '/assets/',
        preCompressed: true,
        index: false,
        // The name of each file contains a digest of its content.
        immutable: true,
        maxAge: '365d',
      })
    },
  }
}

/**
 * The current address for an address of an earlier version, with its query; null if the address is current.
 *
 * @example newAddressOf('/settings?view=fuel') // '/settings/fuel'
 */
export function newAddressOf(address: string): string | null {
  const { pathname, searchParams } = new URL(address, 'http://localhost')
  const moved = movedPages.find(
    ({ from, view }) => from === pathname && (view === undefined || view === searchParams.get('view')),
  )
  if (moved === undefined) return null
  if (moved.view !== undefined) searchParams.delete('view')
  return searchParams.size === 0 ? moved.to : `${moved.to}?${searchParams}`
}

/** True when a browser requests a page; false when a program requests data. */
export function asksForPage(request: FastifyRequest): boolean {
  return (
    request.method === 'GET' &&
    !request.url.startsWith('/api/') &&
    (request.headers.accept ?? '').includes('text/html')
  )
}
