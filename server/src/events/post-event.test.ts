import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer } from 'node:net'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerWith, type EventReceiver, eventReceiver } from '#testing/event-receiver.ts'
import { nameServer } from '#testing/name-server.ts'
import { allowedPrivate } from '../security/index.ts'
import { type LookUp, lookUpThrough, postEvent } from './post-event.ts'

const sent = { headers: { 'Content-Type': 'application/json', 'webhook-id': 'e1' }, body: '{"type":"é"}' }
const loopback = allowedPrivate(['127.0.0.1'])

let receiver: EventReceiver
beforeAll(async () => {
  receiver = await eventReceiver()
})
afterAll(() => receiver.close())

const post = (url = receiver.url, more: Partial<Parameters<typeof postEvent>[2]> = {}) =>
  postEvent(url, sent, { allowed: loopback, ...more })

describe('a request', () => {
  test('the body is sent byte for byte, and the result has the answer', async () => {
    receiver.answer = answerWith(200, 'thanks\u0000\n')
    expect(await post()).toEqual({ status: 200, text: 'thanks ', failure: null, retryAfterSeconds: null })
    expect(receiver.received.at(-1)).toMatchObject({
      path: '/hook',
      body: sent.body,
      headers: { 'webhook-id': 'e1' },
    })
  })

  test('follows no redirect', async () => {
    const before = receiver.received.length
    receiver.answer = answerWith(307, '', { Location: receiver.url })
    expect(await post()).toMatchObject({ status: 307, failure: 'Redirects are not followed.' })
    expect(receiver.received).toHaveLength(before + 1)
  })

  test('only the beginning of an answer is read', async () => {
    receiver.answer = (response) => {
      response.writeHead(500, { 'Retry-After': '120' })
      // An endless answer.
      const more = () => {
        while (response.write('x'.repeat(16_384)));
      }
      response.on('drain', more)
      more()
    }
    const posted = await post()
    expect(posted).toMatchObject({ status: 500, failure: null, retryAfterSeconds: 120 })
    expect(posted.text).toBe('x'.repeat(500))
  })

  test('a request without an answer ends at the time limit', async () => {
    receiver.answer = () => {}
    expect(await post(receiver.url, { patienceMs: 60 })).toMatchObject({
      status: null,
      failure: 'No answer within 0.06 seconds.',
    })
  })

  test('a request is aborted when the service stops', async () => {
    receiver.answer = () => {}
    const stop = new AbortController()
    const posting = post(receiver.url, { stop: stop.signal })
    stop.abort()
    expect(await posting).toMatchObject({
      status: null,
      failure: 'The service was stopped before an answer came.',
    })
  })

  test('an answer that breaks off counts by its status', async () => {
    receiver.answer = (response) => {
      response.writeHead(202, { 'Content-Length': '100' })
      response.write('half')
      setTimeout(() => response.destroy(), 20)
    }
    expect(await post()).toMatchObject({ status: 202, text: 'half' })
  })

  test('an answer that is no answer to a request ends it: another protocol, headers of 200 kB, no HTTP', async () => {
    const ends = []
    for (const bytes of [
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
      `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200_000)}\r\n\r\n`,
      '220 mail.example.com ready\r\n',
    ]) {
      receiver.answer = (response) => response.socket?.end(bytes)
      ends.push(await post())
    }
    expect(ends.map(({ status, failure }) => [status, failure])).toEqual([
      [101, 'The receiver changed the protocol instead of answering.'],
      [null, 'The request failed (HPE_HEADER_OVERFLOW).'],
      [null, 'The request failed (HPE_INVALID_CONSTANT).'],
    ])
  })

  // Without these limits, a receiver could keep the process busy for the whole time of an attempt.
  test.each([100, 102, 103])('an answer that stays interim ends: many of %d', async (status) => {
    receiver.answer = (response) => response.socket?.write(`HTTP/1.1 ${status} Wait\r\n\r\n`.repeat(20))
    expect(await post()).toMatchObject({
      status: null,
      failure: 'The receiver sent answers of the status 1xx only.',
    })
  })

  test('a few interim answers come before the answer', async () => {
    receiver.answer = (response) => {
      for (let count = 0; count < 5; count++) response.writeProcessing()
      answerWith(200, 'thanks')(response)
    }
    expect(await post()).toMatchObject({ status: 200, text: 'thanks', failure: null })
  })

  test('an answer in tiny pieces is not read to its end', async () => {
    receiver.answer = (response) => {
      response.socket?.write(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(5_000)}`,
      )
    }
    // The answer never ends, so the attempt would last for all of its time.
    expect(await post(receiver.url, { patienceMs: 600_000 })).toMatchObject({
      status: 200,
      text: 'a'.repeat(500),
    })
  })

  test('a failed connection reports why', async () => {
    const gone = await eventReceiver()
    await gone.close()
    expect(await post(gone.url)).toMatchObject({ status: null, failure: 'The connection was refused.' })
    const silent: LookUp = () => new Promise(() => {})
    expect(await post('https://hooks.example.com/', { lookUp: silent, patienceMs: 30 })).toMatchObject({
      failure: 'No answer within 0.03 seconds.',
    })
    const unknown: LookUp = () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }))
    expect(await post('https://hooks.example.com/', { lookUp: unknown })).toMatchObject({
      failure: 'The host name has no address.',
    })
  })
})

describe('a name', () => {
  /** Runs `work` with a port of this machine, and counts the connections to it. */
  async function withListener<T>(work: (port: number, connections: () => number) => Promise<T>): Promise<T> {
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.destroy()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    try {
      return await work(typeof address === 'object' ? (address?.port ?? 0) : 0, () => connections)
    } finally {
      server.close()
    }
  }
  const notPublic =
    'The host name resolves to an address that is not on the public internet, or its port is not 443.'
  // With a network on the list, a name may have any port until its addresses are known.
  const other = allowedPrivate(['10.1.0.0/16'])

  test('that resolves to a private address, or to a public one with another port, is not connected to', async () => {
    await withListener(async (port, connections) => {
      for (const addresses of [
        ['127.0.0.1'],
        ['93.184.216.34', '127.0.0.1'],
        ['::1'],
        ['::ffff:127.0.0.1'],
        ['93.184.216.34'],
      ]) {
        expect(
          await postEvent(`https://hooks.example.com:${port}/`, sent, {
            allowed: other,
            lookUp: async () => addresses,
          }),
        ).toMatchObject({ status: null, failure: notPublic })
      }
      expect(connections()).toBe(0)
    })
  })

  test('is resolved once: if it resolves to another address after the check, the connection still uses the checked one', async () => {
    await withListener(async (port, connections) => {
      // The name resolves to a public address at the check and to a private one afterwards.
      let asked = 0
      const flipping: LookUp = async () => (++asked === 1 ? ['192.0.2.1'] : ['127.0.0.1'])
      // The one unreachable public address of this test: from a network reserved for examples.
      const posted = await postEvent(`https://hooks.example.com:${port}/`, sent, {
        allowed: allowedPrivate(['192.0.2.0/24']),
        lookUp: flipping,
        patienceMs: 300,
      })
      expect(posted.status).toBeNull()
      expect(asked).toBe(1)
      expect(connections()).toBe(0)
    })
  })

  test('that is allowed is connected to, whatever address it resolves to', async () => {
    receiver.answer = answerWith(204)
    const posted = await postEvent(receiver.url.replace('127.0.0.1', 'hooks.example.com'), sent, {
      allowed: allowedPrivate(['hooks.example.com']),
      lookUp: async () => ['127.0.0.1'],
    })
    expect(posted.status).toBe(204)
    expect(receiver.received.at(-1)?.headers.host).toMatch(/^hooks\.example\.com:\d+$/)
  })
})

describe('over TLS', () => {
  // Created for this test, and trusted by no system.
  const certificate = `-----BEGIN CERTIFICATE-----
MIIBrDCCAVOgAwIBAgIUQInqPnmnaww5wspY5kKEBjLaRuQwCgYIKoZIzj0EAwIw
HDEaMBgGA1UEAwwRaG9va3MuZXhhbXBsZS5jb20wIBcNMjYxMTIxMjA1NzM2WhgP
MjEyNjEwMjgyMDU3MzZaMBwxGjAYBgNVBAMMEWhvb2tzLmV4YW1wbGUuY29tMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEe5G7ho+oLTOZCNUoq2DaclRHeJuVencc
SaiJ5SxsqjzaediK9T8LHW1hmncuvoKtSvgpzUT96yGUL2YBiCR4baNxMG8wHQYD
VR0OBBYEFFT6s/MActrvaAPnboXzNO6ZhxRcMB8GA1UdIwQYMBaAFFT6s/MActrv
aAPnboXzNO6ZhxRcMA8GA1UdEwEB/wQFMAMBAf8wHAYDVR0RBBUwE4IRaG9va3Mu
ZXhhbXBsZS5jb20wCgYIKoZIzj0EAwIDRwAwRAIgNHYYaqDVgEiGmZ9R0DIfKEmJ
FOlx6n5TFVfGSYv/EHwCIEJW+aO18eVkue/IWbGvtOC2/Nx8WV2t0ZnLZnDWwc0O
-----END CERTIFICATE-----`
  const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmf8P67xk8OKJrT71
A+keBjy+ImYNJySD5zu2b4tQbMuhRANCAAR7kbuGj6gtM5kI1SirYNpyVEd4m5V6
dxxJqInlLGyqPNp52Ir1PwsdbWGady6+gq1K+CnNRP3rIZQvZgGIJHht
-----END PRIVATE KEY-----`
  const server = createTlsServer({ cert: certificate, key }, answerWithName)
  function answerWithName(request: IncomingMessage, response: ServerResponse) {
    response.end(`${(request.socket as TLSSocket & { servername?: string }).servername}`)
  }
  let port = 0
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    port = typeof address === 'object' ? (address?.port ?? 0) : 0
  })
  afterAll(() => {
    setDefaultCACertificates(getCACertificates('bundled'))
    server.close()
  })
  const postTo = (name: string) =>
    postEvent(`https://${name}:${port}/`, sent, {
      allowed: loopback,
      lookUp: async () => ['127.0.0.1'],
    })

  test('the certificate must be trusted, and issued for the host name', async () => {
    expect(await postTo('hooks.example.com')).toMatchObject({
      status: null,
      failure: 'The certificate was not signed by a trusted authority.',
    })
    setDefaultCACertificates([...getCACertificates('bundled'), certificate])
    expect(await postTo('hooks.example.com')).toMatchObject({ status: 200, text: 'hooks.example.com' })
    expect(await postTo('other.example.com')).toMatchObject({
      status: null,
      failure: 'The certificate is for another host name.',
    })
  })

  test('a name server is asked for each request, and whatever it answers then, only allowed addresses are reached', async () => {
    setDefaultCACertificates([...getCACertificates('bundled'), certificate])
    const name = 'hooks.example.com'
    const dns = await nameServer()
    try {
      const posted = async (...addresses: string[]) => {
        dns.addresses.set(name, addresses)
        const { status, failure } = await postEvent(`https://${name}:${port}/`, sent, {
          allowed: loopback,
          lookUp: lookUpThrough([dns.address]),
        })
        return status ?? failure
      }
      const notPublic =
        'The host name resolves to an address that is not on the public internet, or its port is not 443.'
      const internal = ['10.0.0.1', '169.254.169.254', '0:0:0:0:0:0:0:1', '0:0:0:0:0:ffff:a00:1']
      for (const other of internal) {
        expect(await posted('127.0.0.1')).toBe(200)
        expect(await posted(other), other).toBe(notPublic)
        expect(await posted('127.0.0.1', other), other).toBe(notPublic)
      }
      expect(await posted()).toBe('The host name has no address.')
      const asked = 3 * internal.length + 1
      expect(dns.questions.toSorted()).toEqual([
        ...Array(asked).fill(`${name} A`),
        ...Array(asked).fill(`${name} AAAA`),
      ])
    } finally {
      dns.close()
    }
  })
})
