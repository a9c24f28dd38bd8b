import { createHash } from 'node:crypto'
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { mailTextLengthMax } from '#contract/limits.ts'
import type { ThreadMessage } from '../runtime/index.ts'
import type { MailTables } from './mail-tables.ts'
import { type ParsedMail, parseMail } from './parsed-mail.ts'
import { type Arrival, checkArrival, type SenderCheck } from './sender-check.ts'

/** A mail as it is read: all work that grows with it is done in the thread. */
export interface Parsing extends MailTables {
  readonly mail: Omit<ParsedMail, 'text' | 'html' | 'attachments'>
  /** The text that is read: that of the HTML if only it has the tables, or if there is no other text. */
  readonly body: string
  /** Of the whole mail, for one without a Message-ID; null for others. */
  readonly wholeDigest: string | null
  readonly check: SenderCheck
}

/** Of a thread that reads one mail, loading what that mail does not need takes most of the time. */
async function tablesOf(files: ParsedMail['attachments']): Promise<MailTables> {
  return files.length === 0
    ? { tables: [], attachments: [] }
    : (await import('./mail-tables.ts')).readTables(files)
}

/** Longer texts are cut: it is the longest text of a mail that people paste. */
async function bodyOf({ text, html }: ParsedMail): Promise<string> {
  const isWanted = html !== null && (text.trim() === '' || /<td\b/i.test(html))
  return (isWanted ? (await import('../reading/index.ts')).textOfHtml(html) : text)
    .replaceAll('\r\n', '\n')
    .slice(0, mailTextLengthMax)
}

// On Linux a thread has its own niceness. Requests of people come first.
if (process.platform === 'linux') setPriority(10)

const { source, arrival } = workerData as { readonly source: Uint8Array; readonly arrival: Arrival | null }
const parsed = await parseMail(source)
const { text: _text, html: _html, attachments: files, ...mail } = parsed
const result: Parsing = {
  mail,
  body: await bodyOf(parsed),
  wholeDigest: mail.messageId === null ? createHash('sha256').update(source).digest('hex') : null,
  ...(await tablesOf(files)),
  check: arrival === null ? 'unknown' : await checkArrival(source, mail.from.address, arrival),
}
const message: ThreadMessage<Parsing> = { result }
parentPort?.postMessage(message)
