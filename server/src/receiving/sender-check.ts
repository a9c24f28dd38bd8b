import { Resolver } from 'node:dns/promises'
import type { ReceivedMailRow } from '../database/schema/index.ts'

export type SenderCheck = ReceivedMailRow['sender_check']

/** A header of a mail, with its name in lower case, in the order of the mail. */
export interface MailHeader {
  readonly key: string
  readonly value: string
}

/** Comments in parentheses, which may be nested a little. */
const comment = /\((?:[^()\\]|\\.|\([^()]{0,200}\)){0,500}\)/g

/**
 * What the brokerage's own mail provider found about the sender of a mail. It writes the header Authentication-Results above those that
 * came with the mail, and removes those that name it (RFC 8601). So only the topmost one counts, and only if it names the server that
 * an admin trusts. What decides is DMARC: it says whether the domain of the visible sender, not another one, answers for the mail.
 *
 * @param checkingServer the name of that server; null: nothing is believed
 * @example senderCheck([{ key: 'authentication-results', value: 'mx.example.com; dmarc=pass header.from=acme.com' }], 'ana@acme.com', 'mx.example.com') // 'passed'
 */
export function senderCheck(
  headers: readonly MailHeader[],
  from: string,
  checkingServer: string | null,
): SenderCheck {
  const topmost = headers.find(({ key }) => key === 'authentication-results')
  if (topmost === undefined || checkingServer === null) return 'unknown'
  const [server = '', ...results] = topmost.value.replace(comment, ' ').split(';')
  const [name = ''] = server.trim().split(/\s/)
  if (name.toLowerCase() !== checkingServer.toLowerCase()) return 'unknown'
  const domain = from.slice(from.lastIndexOf('@') + 1).toLowerCase()
  const dmarc = results
    .map((result) => result.trim().toLowerCase())
    .filter((result) => /^dmarc\s*=/.test(result))
  // Two results would be about two senders.
  if (dmarc.length !== 1 || domain === '') return 'unknown'
  const found = /^dmarc\s*=\s*([a-z]+)/.exec(dmarc[0] ?? '')?.[1]
  const about = /\bheader\.from\s*=\s*"?([^\s";]+)/.exec(dmarc[0] ?? '')?.[1] ?? domain
  if (found === 'fail') return 'failed'
  return found === 'pass' && (about === domain || about.endsWith(`@${domain}`)) ? 'passed' : 'unknown'
}

/** How the sender of a mail that came over SMTP is checked. */
export interface Arrival {
  /** The name servers to ask; empty for those of the system. */
  readonly nameServers: readonly string[]
}

const questionMs = 2_000
/** A sender waits for the answer meanwhile. */
const checkMs = 5_000
const questionsMax = 40
/** A mail with more of these is no usual one, and its check would take long. */
const signaturesMax = 10
const headerBytesMax = 64 * 1024
const headerLinesMax = 500
/** Headers that a signature covers once: of two, a reader may take the other one. */
const single = ['from', 'subject', 'date', 'message-id', 'content-type', 'content-transfer-encoding']

/** Whether a mail can be checked in a short time, and says nothing twice. */
function isCheckable(source: Uint8Array): boolean {
  const begin = Buffer.from(source.buffer, source.byteOffset, Math.min(source.byteLength, headerBytesMax))
  const ends = ['\r\n\r\n', '\n\n'].map((end) => begin.indexOf(end)).filter((at) => at >= 0)
  if (ends.length === 0) return false
  const lines = begin.toString('latin1', 0, Math.min(...ends)).split('\n')
  if (lines.length > headerLinesMax) return false
  // A line that begins with a space continues the one before, such as the list of signed headers.
  const names = lines.map((line) =>
    line
      .slice(0, Math.max(line.indexOf(':'), 0))
      .trimEnd()
      .toLowerCase(),
  )
  const count = (name: string) => names.filter((one) => one === name).length
  return count('dkim-signature') <= signaturesMax && single.every((name) => count(name) <= 1)
}

/**
 * Whether the domain of the visible sender answers for a mail: DMARC by a signature of the domain (DKIM), which forwarding leaves intact.
 * The server that sent it says nothing (SPF): it is the forwarder's, which many customers permit to send for them. Without a network,
 * nothing is known.
 *
 * @param from the address of the visible sender, as the service reads it: a check of another one proves nothing
 */
export async function checkArrival(
  source: Uint8Array,
  from: string,
  { nameServers }: Arrival,
): Promise<SenderCheck> {
  const domain = from.slice(from.lastIndexOf('@') + 1).toLowerCase()
  if (domain === '' || from.split('@').length !== 2 || !isCheckable(source)) return 'unknown'
  const { authenticate } = await import('mailauth')
  const resolver = new Resolver({ timeout: questionMs, tries: 2, maxTimeout: questionMs })
  if (nameServers.length > 0) resolver.setServers([...nameServers])
  const end = AbortSignal.timeout(checkMs)
  let questions = 0
  try {
    const { dkim, dmarc } = await authenticate(Buffer.from(source), {
      mta: 'lanewise',
      disableArc: true,
      disableBimi: true,
      rejectRsaSha1: true,
      resolver: async (name, type) => {
        end.throwIfAborted()
        if (++questions > questionsMax) throw new Error('Too many questions.')
        return (await resolver.resolve(name, type)) as string[] | string[][]
      },
    })
    if (dmarc === false || dmarc === undefined || dmarc.status.header?.from?.toLowerCase() !== domain) {
      return 'unknown'
    }
    const aligned = dkim.results.filter(({ status }) => Boolean(status.aligned))
    const holds = aligned.some(
      ({ status, signingHeaders }) =>
        status.result === 'pass' &&
        !status.underSized &&
        /(?:^|:)\s*subject\s*(?::|$)/i.test(signingHeaders?.keys ?? ''),
    )
    if (dmarc.status.result === 'pass') return holds ? 'passed' : 'unknown'
    // A changed text is `neutral` for DKIM: a list may have changed it. For a request it is none of the sender's.
    const isBroken = ({ status, bodyHash, bodyHashExpecting }: (typeof aligned)[number]) =>
      status.result === 'fail' || (bodyHashExpecting !== undefined && bodyHash !== bodyHashExpecting)
    return aligned.some(isBroken) ? 'failed' : 'unknown'
  } catch {
    // A mail that cannot be checked is read all the same.
    return 'unknown'
  } finally {
    resolver.cancel()
  }
}
