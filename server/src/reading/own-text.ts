import type { Steps } from '#engine/steps.ts'

/** The text of a mail that is its own: the rest is replaced by spaces, so that offsets stay. */
export interface OwnText {
  readonly text: string
  /** Where the signature begins; the length of the text if there is none. */
  readonly signedAt: number
  /** The sender named in the header of the forwarded mail whose text counts; null if it is not forwarded. */
  readonly forwardedFrom: string | null
  /** Whether an earlier mail is quoted below. */
  readonly isReply: boolean
}

interface Line {
  readonly at: number
  readonly text: string
}

const linesOf = (text: string): Line[] => {
  const lines: Line[] = []
  let at = 0
  for (const line of text.split('\n')) {
    lines.push({ at, text: line })
    at += line.length + 1
  }
  return lines
}

const blank = (text: string) => text.replaceAll(/[^\n]/g, ' ')

/** A text without the given parts, in order of their beginnings, which are replaced by spaces. */
function without(text: string, parts: readonly { readonly from: number; readonly to: number }[]): string {
  let kept = ''
  let at = 0
  for (const { from, to } of parts) {
    if (to <= at) continue
    const begin = Math.max(at, from)
    kept += text.slice(at, begin) + blank(text.slice(begin, to))
    at = to
  }
  return kept + text.slice(at)
}

const forwardLine =
  /^\s{0,9}(?:-{2,}|_{5,}|\*{2,})?\s{0,9}(?:forwarded message|begin forwarded message|mensaje reenviado|message transf[eé]r[eé]|weitergeleitete nachricht|original message|mensaje original|message d['’]origine)\b.{0,20}$/i
const headerLine =
  /^[\s>*]*\*?(?:from|de|von|sent|date|enviado|envoy[eé]|gesendet|to|para|[aà]|an|cc|bcc|subject|asunto|objet|betreff|reply-to|importance|attachments?|fecha)\s?:\*?\s/i
const fromLine = /^[\s>*]*\*?(?:from|de|von)\s?:\*?\s*(.{1,200})$/i
const sentLine = /^[\s>*]*\*?(?:sent|date|enviado|envoy[eé]|gesendet|subject|asunto|fecha)\s?:\*?\s/i
const wroteLine = /^\s*(?:on|el|le|am)\s.{4,200}(?:wrote|escribi[oó]|a [eé]crit|schrieb)\s?:\s*$/i
const wroteStart = /^\s*(?:on|el|le|am)\s.{0,80}\b(?:\d{4}|\d{1,2}:\d{2}|mon|tue|wed|thu|fri|sat|sun)\b/i
const signOff =
  /^\s{0,9}(?:(?:many )?thanks(?: again| so much| a lot| in advance| much)?|thank you(?: so much| very much| in advance| again| all)?|thx|tks|ty|tia|(?:best|kind|warm|warmest)? ?regards|best|all the best|sincerely|respectfully|cheers|cordially|have a (?:great|good|nice) (?:day|one|week|weekend)|gracias|muchas gracias|saludos(?: cordiales)?|merci(?: beaucoup)?|cordialement|bien [aà] vous|danke|mit freundlichen gr[uü](?:ß|ss)en|obrigad[oa]|sent from my .{1,30}|get outlook for .{1,20})\s{0,9}[,.!;\u2013\u2014-]{0,5}\s{0,9}(?:\p{Lu}[\p{L}'’.-]{0,20}(?: \p{Lu}[\p{L}'’.-]{0,20})?)?\s{0,9}[.!]?\s{0,9}$/iu
const delimiterLine = /^\s*(?:--|—|_{3,}|-{3,}|={3,})\s*$/
const disclaimer =
  /^\s*[*_]*(?:confidentiality (?:notice|note|statement)|disclaimer|this (?:e-?mail|message|communication)(?: message)?(?: and| is| may| \(|,| contains|[^\n]{0,40}(?:confidential|privileged|intended))|the information (?:contained )?in this|notice:|legal notice|privileged|please consider the environment|aviso (?:de|legal)|if you (?:are not|have received) (?:the|this))/i
const banner =
  /^\s{0,9}[[*!]{0,9}\s{0,9}(?:external(?: e-?mail| sender)?\b|caution\b|warning\b|this (?:e-?mail|message) originated|you don['’]t often get)/i

/** Where an earlier mail begins, and whether its header says that it was forwarded; null if there is none. */
function nextMail(
  lines: readonly Line[],
  from: number,
): { header: number; body: number; isForward: boolean; isWrote: boolean } | null {
  for (let nth = from; nth < lines.length; nth++) {
    const line = lines[nth]?.text ?? ''
    const isWrote =
      wroteLine.test(line) ||
      (wroteStart.test(line) &&
        /(?:wrote|escribi[oó]|a [eé]crit|schrieb)\s?:\s*$/i.test(`${lines[nth + 1]?.text ?? ''}`))
    if (isWrote)
      return { header: nth, body: nth + (wroteLine.test(line) ? 1 : 2), isForward: false, isWrote: true }
    const isForward = forwardLine.test(line)
    const first = isForward ? nth + 1 : nth
    let end = first
    while (
      end < lines.length &&
      end - first < 14 &&
      ((lines[end]?.text.trim() ?? '') === '' ? end === first : headerLine.test(lines[end]?.text ?? ''))
    )
      end++
    const header = lines.slice(first, end).map(({ text }) => text)
    const isHeader = header.some((one) => fromLine.test(one)) && header.some((one) => sentLine.test(one))
    if (isForward || isHeader)
      return { header: nth, body: end, isForward: isForward && !/original/i.test(line), isWrote: false }
  }
  return null
}

const phoneOrAddress = /\b\d{3}[-. )]{1,3}\d{3}[-. ]\d{4}\b|\w@\w[\w-]{0,60}\.|\bwww\.|https?:\/\//i

/** Where the signature of a mail begins, as the number of a line. */
function signatureOf(lines: readonly Line[], from: number, to: number): number {
  for (let nth = from; nth < to; nth++) {
    const line = lines[nth]?.text ?? ''
    if (/^-- ?$/.test(line)) return nth
    if (disclaimer.test(line)) return nth
    if (nth > from && signOff.test(line)) return nth
    if (
      delimiterLine.test(line) &&
      lines.slice(nth + 1, nth + 8).some(({ text }) => phoneOrAddress.test(text))
    )
      return nth
  }
  // No sign-off: the last lines from a name on, before a phone number or an address of mail.
  let last = to - 1
  while (last > from && (lines[last]?.text.trim() ?? '') === '') last--
  if (!phoneOrAddress.test(lines[last]?.text ?? '') && !phoneOrAddress.test(lines[last - 1]?.text ?? ''))
    return to
  let begin = last
  while (begin > from && last - begin < 7 && (lines[begin - 1]?.text.trim() ?? '') !== '') begin--
  return begin > from ? begin : to
}

/**
 * Tells the own text of a mail from quoted replies, signatures, disclaimers and headers. The text of a forwarded mail counts if the one
 * who forwards it adds no lane; that of an earlier mail in a thread does not.
 *
 * @param hasLane whether a text names a lane
 */
export function* ownText(
  text: string,
  isForwarded: boolean,
  hasLane: (text: string) => Steps<boolean>,
): Steps<OwnText> {
  const lines = linesOf(text)
  const isAllQuoted = lines.every(({ text: line }) => line.trim() === '' || line.startsWith('>'))
  const erased: { from: number; to: number }[] = []
  const erase = (from: number, to: number) => erased.push({ from, to })
  let from = 0
  let forwardedFrom: string | null = null
  let next = nextMail(lines, from)
  const offset = (nth: number) => lines[nth]?.at ?? text.length
  for (let depth = 0; next !== null && depth < 20; depth++) {
    const above = text.slice(offset(from), offset(next.header))
    const counts = next.isForward || (isForwarded && !next.isWrote)
    if (!counts || (yield* hasLane(above))) break
    erase(offset(from), offset(next.body))
    const header = lines.slice(next.header, next.body).map(({ text: line }) => line)
    forwardedFrom =
      header.map((line) => fromLine.exec(line)?.[1] ?? '').find((sender) => sender !== '') ?? null
    from = next.body
    next = nextMail(lines, from)
  }
  const to = next === null ? lines.length : next.header
  const isQuoted = (line: string) => line.startsWith('>') && !(isAllQuoted || forwardedFrom !== null)
  for (let nth = from; nth < to; nth++) {
    const line = lines[nth]
    if (line === undefined) continue
    const isBanner = nth < from + 6 && banner.test(line.text)
    if (isQuoted(line.text) || isBanner) erase(line.at, line.at + line.text.length)
    else if (/^[>\s]*>/.test(line.text))
      erase(line.at, line.at + (/^[>\s]*/.exec(line.text)?.[0].length ?? 0))
  }
  erase(offset(to), text.length)
  const kept = without(text, erased)
  const signed = signatureOf(linesOf(kept), from, to)
  return { text: kept, signedAt: offset(signed), forwardedFrom, isReply: next !== null }
}
