import { type Answer, call, type MadeTenant, requireStatus } from './make.ts'
import type { NameServer } from './name-server.ts'
import type { TestApp } from './test-app.ts'

/** The configuration of a service whose providers and name servers are on this machine. */
export function companyOnThisMachine(names: NameServer) {
  return { company: { isOn: true, allowPrivate: ['127.0.0.1'], nameServers: [names.address] } }
}

/** A browser: it keeps the cookie that ties a sign-in to it. */
export class TestBrowser {
  #cookie = ''

  async post(app: TestApp, path: string, body: object): Promise<Answer> {
    const answer = await call(app, 'POST', path, {
      body,
      headers: this.#cookie === '' ? {} : { Cookie: this.#cookie },
    })
    for (const cookie of answer.headers.getSetCookie()) {
      if (cookie.startsWith('__Host-lanewise-company=')) this.#cookie = cookie.split(';')[0] ?? ''
    }
    return answer
  }

  start(app: TestApp, tenant: { readonly id: number }, email: string): Promise<Answer> {
    return this.post(app, '/api/auth/company/start', { email, brokerage_id: tenant.id })
  }

  finish(app: TestApp, tenant: { readonly id: number }, answer: string): Promise<Answer> {
    return this.post(app, '/api/auth/company/finish', { brokerage_id: tenant.id, answer })
  }
}

/** Adds a domain to a brokerage and proves it. */
export async function proveDomain(app: TestApp, tenant: MadeTenant, names: NameServer, domain: string) {
  const token = tenant.owner
  const added = await call(app, 'POST', '/api/company-sign-in/domains', { token, body: { domain } })
  const { domains } = requireStatus('adding a domain', added, 200)
  const { record } = domains.find((one: { domain: string }) => one.domain === domain)
  names.texts.set(record.name, [...(names.texts.get(record.name) ?? []), record.value])
  const path = '/api/company-sign-in/domains/check'
  return requireStatus('checking a domain', await call(app, 'POST', path, { token, body: { domain } }), 200)
}

/** Sets the provider of a brokerage. */
export async function setProvider(
  app: TestApp,
  tenant: MadeTenant,
  provider: { readonly issuer: string; readonly clientId?: string; readonly clientSecret?: string },
  more: object = {},
): Promise<Answer> {
  return call(app, 'POST', '/api/company-sign-in', {
    token: tenant.owner,
    body: {
      issuer: provider.issuer,
      client_id: provider.clientId ?? 'lanewise-client',
      client_secret: provider.clientSecret ?? 'client-secret-canary',
      ...more,
    },
  })
}
