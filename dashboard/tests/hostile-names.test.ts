import { pagePaths } from '#contract/pages.ts'
import { call, type Integration, makeIntegration, pushUpdate } from '#testing/make.ts'
import { app, expect, loaded, openWindow, test } from '../testing/pages.ts'

/** Names that would run a script, break the layout or change the text around them in a page that does not escape them. */
const hostileNames = [
  '<script>window.ran = 1</script>',
  '"><img src=x onerror="window.ran = 1">',
  '<svg onload=window.ran=1>',
  "'; window.ran = 1; //",
  'javascript:window.ran=1',
  '{{constructor.constructor("window.ran = 1")()}}',
  `\${window.ran = 1}`,
  '</textarea><script>window.ran = 1</script>',
  '<style>body{display:none}</style>',
  '=HYPERLINK("http://x.example","x")',
  '__proto__',
  'Ｔｈｅ ｑｕｉｃｋ ｂｒｏｗｎ 🚚 فريق שלום 日本語 Ω≈ç√∫ ﷽',
  'W'.repeat(190),
]

let integration: Integration
let lanes: string[]

test.beforeAll(async () => {
  integration = await makeIntegration(app)
  const { tenant } = integration
  lanes = []
  for (const name of hostileNames) {
    const made = await call(app, 'POST', '/api/quote-requests', {
      token: tenant.owner,
      body: {
        customer_name: name,
        reference: name,
        lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2000 }],
      },
    })
    expect(made.status, name).toBe(201)
    lanes.push(made.body.lanes[0].lane_ref)
    const update = {
      lane_ref: lanes.at(-1),
      truck_cost: 1700,
      carrier_name: name,
      carrier_mc: name.slice(0, 40),
    }
    expect((await pushUpdate(app, integration, update)).status, name).toBe(200)
    const short = name.slice(0, 90)
    const token = { token: tenant.owner, body: { name: short } }
    expect((await call(app, 'POST', '/api/integrations/tokens', token)).status, name).toBe(201)
    const person = { name: short, email: `p${lanes.length}@example.com`, role: 'viewer' }
    expect((await call(app, 'POST', '/api/users', { token: tenant.owner, body: person })).status).toBe(201)
  }
  await nameTeamsAndRules(tenant.owner)
  const brokerage = { token: tenant.owner, body: { name: hostileNames[1] } }
  expect((await call(app, 'PATCH', '/api/tenant', brokerage)).status).toBe(200)
  await fetch(
    `${app.url}/api/imports?dry_run=true&file_name=${encodeURIComponent('<img src=x onerror=1>.csv')}`,
    {
      method: 'POST',
      headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
      body: `origin,destination,equipment,quoted_rate,quoted_at,"<img src=x onerror='window.ran=1'>"\nNowhere<b>,"x, ZZ",V,abc,2026-01-01,1\n`,
    },
  )
})

/** Names of teams, and the customers of pricing rules. */
async function nameTeamsAndRules(token: string): Promise<void> {
  const post = async (path: string, body: unknown) =>
    expect((await call(app, 'POST', path, { token, body })).status, path).toBe(201)
  for (const name of hostileNames.slice(0, 8)) {
    await post('/api/teams', { name, customers: [name] })
    await post('/api/pricing-rules', {
      conditions: { customer: name },
      terms: { minimum: { margin_pct: 12 }, outside: 'approval' },
    })
  }
}

/** A window that records CSP violations and dialogs. */
async function watchedWindow() {
  const window = await openWindow({
    person: integration.tenant,
    refusalsExpected: true,
    alone: true,
  })
  const breaches: string[] = []
  window.page.on('dialog', (dialog) => {
    breaches.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await window.context.exposeFunction('noteBreach', (text: string) => breaches.push(text))
  await window.context.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => noteBreach(event.violatedDirective + ': ' + event.blockedURI))`,
  )
  return { ...window, breaches }
}

const corridor = new URLSearchParams({ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' })

test('hostile names run no script, are shown unchanged, violate no CSP and do not widen pages', async () => {
  const { page, breaches, troubles } = await watchedWindow()
  const paths = [
    ...Object.values(pagePaths).filter((path) => !path.includes('{')),
    `${pagePaths.lane}?${corridor}`,
    `${pagePaths.shipments}?period=all`,
    `${pagePaths.results}?by=customer`,
    `${pagePaths.results}?by=rep`,
    `${pagePaths.customers}?name=${encodeURIComponent(hostileNames[0] ?? '')}`,
    `${pagePaths.quotes}?customer=${encodeURIComponent(hostileNames[0] ?? '')}`,
    `${pagePaths.quotes}?q=${encodeURIComponent(hostileNames[1] ?? '')}`,
    `${pagePaths.lane}?${new URLSearchParams({ origin: hostileNames[0] ?? '', destination: hostileNames[1] ?? '' })}`,
    `${pagePaths.quote.replace('{lane_ref}', encodeURIComponent(hostileNames[1] ?? ''))}`,
  ]
  const visit = async (path: string) => {
    await page.goto(path)
    await loaded(page)
    expect(await page.evaluate('typeof globalThis.ran'), path).toBe('undefined')
    expect(
      await page.evaluate('document.documentElement.scrollWidth - globalThis.innerWidth'),
      path,
    ).toBeLessThanOrEqual(0)
    await expect(page.locator('body'), path).toBeVisible()
  }
  for (const path of paths) await visit(path)
  for (const [index, ref] of lanes.entries()) {
    await visit(pagePaths.quote.replace('{lane_ref}', ref))
    await expect(page.getByRole('main')).toContainText(hostileNames[index] ?? '')
  }
  expect(breaches).toEqual([])
  expect(troubles).toEqual([])
})
