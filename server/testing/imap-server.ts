import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'

/** The name that the certificate of the server is for. */
export const imapHost = 'imap.example.com'

/** Made for tests, and trusted by no system. */
export const imapCertificate = `-----BEGIN CERTIFICATE-----
MIIBqzCCAVCgAwIBAgIUDy6YnOdBSa4EoLGcq15OeSlQfiMwCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQaW1hcC5leGFtcGxlLmNvbTAgFw0yNjExMjcxNDU5MDdaGA8y
MTI2MTEwMzE0NTkwN1owGzEZMBcGA1UEAwwQaW1hcC5leGFtcGxlLmNvbTBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABIAUjQ1JbmRHq5bzD+pgVyrYBx9T5/xgjVJb
LyvgqHz4E8QZv9P6QDxObtTkiiG0zMgG2rRGKmO527Qm7G1FFlijcDBuMB0GA1Ud
DgQWBBT80Y6p/228ijGIH0MLGFCqcmtlGTAfBgNVHSMEGDAWgBT80Y6p/228ijGI
H0MLGFCqcmtlGTAPBgNVHRMBAf8EBTADAQH/MBsGA1UdEQQUMBKCEGltYXAuZXhh
bXBsZS5jb20wCgYIKoZIzj0EAwIDSQAwRgIhAMjQRCh9Ye/beHGnCCaYzt8XRP4T
1nNQlnaN5bxkh14FAiEA/iTGnvsTWGuj3Sl8N5qxbJiM7hhutzg6Eh51YPL22Gk=
-----END CERTIFICATE-----`
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQge+ZsAGaox05nvW7o
xEEroKJwsUJMt/Z27TqJGKb0+YOhRANCAASAFI0NSW5kR6uW8w/qYFcq2AcfU+f8
YI1SWy8r4Kh8+BPEGb/T+kA8Tm7U5IohtMzIBtq0Ripjudu0JuxtRRZY
-----END PRIVATE KEY-----`

interface StoredMail {
  uid: number
  readonly raw: Buffer
  readonly at: Date
}

/** A mailbox on this machine, reached over IMAP with STARTTLS (RFC 3501, RFC 2177), with faults to choose. */
export interface ImapServer {
  readonly port: number
  readonly user: string
  /** Assign to it to change the password. */
  password: string
  uidValidity: number
  /** How often somebody tried to sign in. */
  readonly signIns: () => number
  /** The commands that were sent, in upper case, without their arguments. */
  readonly commands: string[]
  /** The UIDs of the mails whose text was sent, each time. */
  readonly sent: number[]
  /** The connections that are open. */
  readonly connections: () => number
  /** Closes the connection in the middle of this mail, if it returns true. */
  cutsWithin: (uid: number) => boolean
  /** Puts a mail into the inbox, and tells the connections that wait. Returns its UID. */
  deliver(raw: string | Buffer, options?: { readonly at?: Date }): number
  /** Says that the inbox has some more mails, which are never sent. */
  pretendOld(count: number): void
  /** Numbers all mails anew, as after a restored backup. */
  renumber(): void
  close(): Promise<void>
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const two = (value: number) => String(value).padStart(2, '0')
const imapDate = (at: Date) =>
  `${two(at.getUTCDate())}-${months[at.getUTCMonth()]}-${at.getUTCFullYear()} ${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())} +0000`

const quotedText = (text: string | undefined) =>
  text === undefined ? 'NIL' : `{${Buffer.byteLength(text)}}\r\n${text}`

/** The ENVELOPE of a mail, from its headers. */
function envelopeOf(raw: Buffer): string {
  const head =
    raw
      .toString('latin1')
      .split('\r\n\r\n')[0]
      ?.replaceAll(/\r\n[ \t]+/g, ' ') ?? ''
  const header = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'im').exec(head)?.[1]?.trim()
  const [, name, local, domain] =
    /^(?:"?([^"<]*?)"? ?<)?([^<>@]+)@([^<>@]+)>?$/.exec(header('From') ?? '') ?? []
  const from =
    local === undefined ? 'NIL' : `((${quotedText(name)} NIL ${quotedText(local)} ${quotedText(domain)}))`
  const fields = [header('Date'), header('Subject')].map(quotedText)
  const ids = [header('In-Reply-To'), header('Message-ID')].map(quotedText)
  return `(${fields.join(' ')} ${from} ${from} ${from} NIL NIL NIL ${ids.join(' ')})`
}

interface State {
  readonly mails: StoredMail[]
  old: number
  nextUid: number
  signIns: number
  readonly sessions: Set<Session>
}

/** One connection. */
class Session {
  readonly #server: ImapServer
  readonly #state: State
  #socket: Socket
  #rest = ''
  #idleTag: string | null = null
  /** The number of mails that the client knows of. */
  #told = 0

  constructor(server: ImapServer, state: State, socket: Socket) {
    this.#server = server
    this.#state = state
    this.#socket = socket
    this.#listen(socket)
    this.#say('* OK ready')
  }

  #listen(socket: Socket): void {
    socket.on('error', () => {})
    socket.on('close', () => {
      if (this.#socket === socket) this.#state.sessions.delete(this)
    })
    socket.on('data', (chunk: Buffer) => this.#take(chunk.toString('latin1')))
  }

  #say(line: string): void {
    if (!this.#socket.destroyed) this.#socket.write(`${line}\r\n`, 'latin1')
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Tells a client that waits. */
  tell(): void {
    const count = this.#state.old + this.#state.mails.length
    if (this.#idleTag === null || count === this.#told) return
    this.#told = count
    this.#say(`* ${count} EXISTS`)
  }

  #take(text: string): void {
    this.#rest += text
    for (let end = this.#rest.indexOf('\r\n'); end >= 0; end = this.#rest.indexOf('\r\n')) {
      const line = this.#rest.slice(0, end)
      this.#rest = this.#rest.slice(end + 2)
      if (this.#idleTag !== null) {
        if (line.toUpperCase() === 'DONE') {
          this.#say(`${this.#idleTag} OK done`)
          this.#idleTag = null
        }
        continue
      }
      this.#command(line)
    }
  }

  #command(line: string): void {
    const [, tag = '*', name = '', rest = ''] = /^(\S+) ((?:UID )?\S+)(?: (.*))?$/i.exec(line) ?? []
    const command = name.toUpperCase()
    this.#server.commands.push(command)
    const { mails, old } = this.#state
    switch (command) {
      case 'CAPABILITY': {
        const isSecret = this.#socket instanceof TLSSocket
        this.#say(`* CAPABILITY IMAP4rev1 IDLE${isSecret ? '' : ' STARTTLS LOGINDISABLED'}`)
        this.#say(`${tag} OK done`)
        return
      }
      case 'STARTTLS':
        this.#startTls(tag)
        return
      case 'LOGIN':
        this.#signIn(tag, rest)
        return
      case 'LIST':
        this.#say('* LIST () "/" INBOX')
        this.#say(`${tag} OK done`)
        return
      case 'EXAMINE':
      case 'SELECT':
        this.#told = old + mails.length
        this.#say(`* ${this.#told} EXISTS`)
        this.#say('* 0 RECENT')
        this.#say(String.raw`* FLAGS (\Seen)`)
        this.#say(`* OK [UIDVALIDITY ${this.#server.uidValidity}] numbers`)
        this.#say(`* OK [UIDNEXT ${this.#state.nextUid}] next`)
        this.#say(`${tag} OK [${command === 'EXAMINE' ? 'READ-ONLY' : 'READ-WRITE'}] done`)
        return
      case 'UID SEARCH':
        this.#search(tag, rest)
        return
      case 'UID FETCH':
        this.#fetch(tag, rest)
        return
      case 'IDLE':
        this.#idleTag = tag
        this.#say('+ idling')
        this.tell()
        return
      case 'LOGOUT':
        this.#say('* BYE')
        this.#say(`${tag} OK done`)
        this.#socket.end()
        return
      case 'NOOP':
        this.#say(`${tag} OK done`)
        return
      default:
        this.#say(`${tag} BAD unknown`)
        return
    }
  }

  #startTls(tag: string): void {
    const plain = this.#socket
    plain.removeAllListeners('data')
    this.#say(`${tag} OK begin`)
    const secret = new TLSSocket(plain, {
      isServer: true,
      secureContext: createSecureContext({ cert: imapCertificate, key }),
    })
    this.#socket = secret
    this.#listen(secret)
  }

  #signIn(tag: string, rest: string): void {
    this.#state.signIns++
    const isRight = rest.includes(`"${this.#server.password}"`)
    this.#say(isRight ? `${tag} OK signed in` : `${tag} NO [AUTHENTICATIONFAILED] Invalid credentials`)
  }

  #search(tag: string, rest: string): void {
    const from = /(\d+):\*/.exec(rest)?.[1]
    const since = /SINCE (\S+)/i.exec(rest)?.[1]?.replaceAll('"', '')
    const { mails } = this.#state
    const found = mails.filter(({ uid, at }) =>
      from === undefined ? at.getTime() >= Date.parse(`${since} 00:00 UTC`) : uid >= Number(from),
    )
    // A range with * always has the last mail.
    const last = mails.at(-1)
    const uids =
      found.length === 0 && from !== undefined && last !== undefined
        ? [last.uid]
        : found.map(({ uid }) => uid)
    this.#say(`* SEARCH ${uids.join(' ')}`.trimEnd())
    this.#say(`${tag} OK done`)
  }

  #fetch(tag: string, rest: string): void {
    const uid = Number(/^\d+/.exec(rest)?.[0])
    const at = this.#state.mails.findIndex((mail) => mail.uid === uid)
    const mail = this.#state.mails[at]
    if (mail === undefined) {
      this.#say(`${tag} OK done`)
      return
    }
    const number = this.#state.old + at + 1
    if (!/BODY\.PEEK\[\]/i.test(rest)) {
      const size = `RFC822.SIZE ${mail.raw.length}`
      this.#say(
        `* ${number} FETCH (UID ${uid} ${size} INTERNALDATE "${imapDate(mail.at)}" ENVELOPE ${envelopeOf(mail.raw)})`,
      )
      this.#say(`${tag} OK done`)
      return
    }
    this.#server.sent.push(uid)
    const bytes = mail.raw
    this.#socket.write(`* ${number} FETCH (UID ${uid} BODY[]<0> {${bytes.length}}\r\n`)
    if (this.#server.cutsWithin(uid)) {
      this.#socket.write(bytes.subarray(0, bytes.length / 2), () => this.#socket.destroy())
      return
    }
    this.#socket.write(bytes)
    this.#say(')')
    this.#say(`${tag} OK done`)
  }
}

/** Starts a mail server with one mailbox. */
export async function imapServer(): Promise<ImapServer> {
  const state: State = { mails: [], old: 0, nextUid: 1, signIns: 0, sessions: new Set() }
  const listener: Server = createServer((socket) => state.sessions.add(new Session(server, state, socket)))
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const server: ImapServer = {
    port: (listener.address() as AddressInfo).port,
    user: 'quotes@broker.example.com',
    password: 'the right password',
    uidValidity: 1_000,
    signIns: () => state.signIns,
    commands: [],
    sent: [],
    connections: () => state.sessions.size,
    cutsWithin: () => false,
    deliver(raw, { at = new Date() } = {}) {
      const uid = state.nextUid++
      const text = typeof raw === 'string' ? Buffer.from(raw.replaceAll(/\r?\n/g, '\r\n')) : raw
      state.mails.push({ uid, raw: text, at })
      for (const session of state.sessions) session.tell()
      return uid
    },
    pretendOld(count) {
      state.old += count
      state.nextUid += count
    },
    renumber() {
      server.uidValidity++
      state.old = 0
      state.nextUid = 1
      for (const mail of state.mails) mail.uid = state.nextUid++
      for (const session of state.sessions) session.destroy()
    },
    async close() {
      for (const session of state.sessions) session.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
  return server
}
