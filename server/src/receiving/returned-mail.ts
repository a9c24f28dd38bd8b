import type { MailHeader } from './sender-check.ts'

/** A report that a mail could not be delivered (RFC 3464). */
export interface ReturnedMail {
  /** The ids of mails that it may be about: of Message-IDs as the outbox makes them. */
  readonly mailIds: readonly string[]
  /** The recipients who did not get it, in lower case. */
  readonly recipients: readonly string[]
  /** What the recipient's server said. */
  readonly reason: string
}

/** The returned mail follows the report, and may be long. */
const searchedBytes = 500_000
const idsMax = 20
const recipientsMax = 20
const ownId = /<([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})@/g
const naming = /^(?:message-id|original-message-id|references|in-reply-to|x-original-message-id):/i

/** Lines without folds. */
const unfolded = (text: string) =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(/\n[ \t]+/g, ' ')
    .split('\n')

/**
 * What a mail says about one that came back; null if it is no report of a failure for good. A report of a delay is none.
 *
 * @param reports its parts of the type message/delivery-status: fields of the mail, then those of each recipient
 * @param source the mail in its transfer form
 */
export function returnedMail(
  headers: readonly MailHeader[],
  reports: readonly string[],
  source: Uint8Array,
): ReturnedMail | null {
  const type = headers.find(({ key }) => key === 'content-type')?.value.toLowerCase() ?? ''
  if (!type.startsWith('multipart/report') || !type.includes('delivery-status')) return null
  const failed = reports
    .flatMap((report) => report.replaceAll('\r\n', '\n').split('\n\n'))
    .map((block) => fieldsOf(block))
    .filter((fields) => fields.get('action')?.toLowerCase() === 'failed')
  const [first] = failed
  if (first === undefined) return null
  const said = first.get('diagnostic-code')?.replace(/^[\w-]{1,20};\s?/, '')
  const lines = unfolded(Buffer.from(source.subarray(0, searchedBytes)).toString('latin1'))
  const named = lines
    .filter((line) => naming.test(line))
    .flatMap((line) => [...line.matchAll(ownId)].map(([, id]) => id ?? ''))
  const recipients = failed.flatMap((fields) =>
    ['final-recipient', 'original-recipient'].flatMap(
      (name) => fields.get(name)?.split(';').at(-1)?.trim() ?? [],
    ),
  )
  return {
    mailIds: [...new Set(named)].slice(0, idsMax),
    recipients: [...new Set(recipients.map((one) => one.toLowerCase()))].slice(0, recipientsMax),
    reason: said ?? `Status ${first.get('status') ?? '5.0.0'}`,
  }
}

/** The fields of a block, by their names in lower case. The first one of a name counts. */
function fieldsOf(block: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>()
  for (const line of unfolded(block)) {
    const at = line.indexOf(':')
    const name = line.slice(0, Math.max(at, 0)).trim().toLowerCase()
    if (name !== '' && !fields.has(name)) fields.set(name, line.slice(at + 1).trim())
  }
  return fields
}
