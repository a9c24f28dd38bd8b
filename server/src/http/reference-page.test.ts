import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { eventBodies } from '#contract/events.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

let app: TestApp
let page: string
beforeAll(async () => {
  app = await sharedApp()
  page = await (await fetch(`${app.url}/docs`)).text()
})

/** The text of a part of the page, as a browser shows it. */
const shownText = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')

function sectionOf(name: string): string {
  const start = page.indexOf(`<section id="${name}">`)
  if (start < 0) throw new Error(`The page has no section ${name}.`)
  return page.slice(start, page.indexOf('</section>', start))
}

describe('the reference', () => {
  test.each(['/docs', '/docs/'])(
    'is a page without scripts at %s, for which the policy allows its style only',
    async (path) => {
      const answer = await fetch(`${app.url}${path}`)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      const text = await answer.text()
      const style = /<style>(.*)<\/style>/.exec(text)?.[1] ?? ''
      const hash = createHash('sha256').update(style).digest('base64')
      expect(answer.headers.get('content-security-policy')).toBe(
        `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      )
      expect(text).not.toMatch(/<(no)?script|<link|<img|<iframe|javascript:|<[^>]+ on[a-z]+=/i)
    },
  )

  test.each((allEndpoints as readonly Endpoint[]).map((endpoint) => [endpoint.name, endpoint] as const))(
    'has %s with its callers, parameters, fields, example, problems and programs',
    (name, endpoint) => {
      const { method, path, summary, description, who, params, query, body, bodyKind, examples } = endpoint
      const html = sectionOf(name)
      const text = shownText(html)
      expect(html).toContain(`<h3><code>${method} ${path}</code></h3>`)
      for (const said of [summary, description]) expect(text).toContain(said.replaceAll(/\s+/g, ' '))
      const caller = {
        anyone: 'Called with: no credential.',
        dashboard: 'Called with: the token of a sign-in.',
        service: `Called with: a service token with the scope ${'scope' in who ? who.scope : ''}`,
      }
      expect(text).toContain(caller[who.kind])
      expect(text.includes('a signature, its timestamp.')).toBe(who.kind === 'service' && who.signed)
      const fields =
        bodyKind === 'csv' ? {} : ((body as { properties?: object } | undefined)?.properties ?? {})
      for (const field of [params?.properties, query?.properties, fields].flatMap((one) =>
        Object.keys(one ?? {}),
      )) {
        expect(html).toContain(`<code>${field}</code>`)
      }
      if (examples?.answer !== undefined && typeof examples.answer !== 'string') {
        expect(text).toContain(JSON.stringify(examples.answer, null, 2).replaceAll(/\s+/g, ' '))
      }
      expect(html).toContain('<a href="/problems/internal">500 internal</a>')
      for (const language of ['curl', 'Python', 'TypeScript']) {
        expect(html).toContain(`<details><summary>${language}</summary><pre><code>`)
      }
      expect(page).toContain(`<li><a href="#${name}"><code>${method} ${path}</code></a>`)
    },
  )

  test('has every event', () => {
    for (const [type, { summary }] of Object.entries(eventBodies)) {
      const text = shownText(sectionOf(`event-${type.replaceAll(/[._]/g, '-')}`))
      expect(text).toContain(`event ${type} ${summary}`)
    }
  })

  test('leads to the interactive reference, which keeps its policy', async () => {
    expect(page).toContain('<a href="/docs/interactive/">')
    const interactive = await fetch(`${app.url}/docs/interactive/`)
    expect(interactive.status).toBe(200)
    expect(interactive.headers.get('content-security-policy')).toContain(
      "script-src 'self'; style-src 'self'",
    )
    expect(await interactive.text()).toContain('swagger-ui')
  })
})
