import { type NamedPage, pagePaths } from '#contract/pages.ts'
import { formatDollars } from '#engine/money.ts'
import { barPicture, pictureSize } from './bar-picture.ts'
import type { ReportedLane, WeeklyReport } from './weekly-figures.ts'

/** A report as it is mailed. */
export interface ReportMail {
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The PNG picture that the HTML names `cid:picture`. */
  readonly picture: Buffer
}

const dayForm = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' })
const dayInWords = (day: string) => dayForm.format(new Date(day))

const dollars = (cents: number | null) => (cents === null ? 'none yet' : formatDollars(cents))
const percent = (value: number | null) => (value === null ? 'none yet' : `${value.toFixed(1)}%`)
const signed = (text: string, change: number) => `${change < 0 ? '-' : '+'}${text}`
const dollarsMoved = (cents: number) => signed(formatDollars(Math.abs(cents)), cents)

/** A figure with its change in words. */
interface Line {
  readonly label: string
  readonly value: string
  readonly change: string
  /** Whether it went up; null without a comparison. */
  readonly isUp: boolean | null
}

function lineOf(
  label: string,
  [now, before]: readonly [number | null, number | null],
  { value, moved }: { value: (of: number | null) => string; moved: (by: number) => string },
): Line {
  if (now === null || before === null) {
    return { label, value: value(now), change: 'nothing to compare in the week before', isUp: null }
  }
  const isSame = now === before
  return {
    label,
    value: value(now),
    change: isSame ? 'as in the week before' : `${moved(now - before)} against the week before`,
    isUp: isSame ? null : now > before,
  }
}

function linesOf({ now, before }: WeeklyReport): Line[] {
  const points = { value: percent, moved: (by: number) => `${signed(Math.abs(by).toFixed(1), by)} points` }
  return [
    lineOf('Margin', [now.marginCents, before.marginCents], { value: dollars, moved: dollarsMoved }),
    lineOf('Margin %', [now.marginPct, before.marginPct], points),
    lineOf('Win rate', [now.winRatePct, before.winRatePct], points),
    lineOf('Quotes', [now.quotes, before.quotes], {
      value: (of) => String(of),
      moved: (by) => signed(String(Math.abs(by)), by),
    }),
  ]
}

const laneName = ({ origin, destination, equipment }: ReportedLane) =>
  `${origin} to ${destination}${equipment === '' ? '' : `, ${equipment}`}`

/** Text within HTML. Names are what people and files say, and may contain anything. */
function escaped(text: string): string {
  const named: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replaceAll(/[&<>"']/g, (character) => named[character] ?? '').replaceAll(/\p{Cc}+/gu, ' ')
}

/** An address of the product: it opens a page, and never acts. */
function linkTo(publicUrl: string, path: NamedPage, query: Readonly<Record<string, string>>): string {
  return `${publicUrl}${path}?${new URLSearchParams(query)}`
}

/** The pages behind the figures; null if the address of the product is not known. */
function linksOf({ week: { firstDay: from, lastDay: to } }: WeeklyReport, publicUrl: string | null) {
  if (publicUrl === null) return null
  return {
    results: linkTo(publicUrl, pagePaths.results, { period: 'custom', from, to }),
    lane: ({ origin, destination, equipment }: ReportedLane) =>
      linkTo(publicUrl, pagePaths.quotes, { origin, destination, equipment, from, to }),
    account: `${publicUrl}${pagePaths.account}`,
  }
}

const basisWords = { all_in: 'all-in', linehaul: 'linehaul' } as const

/** What the report says after the figures, in words. */
function wordsOf(report: WeeklyReport) {
  const { leak, moved, basis, week } = report
  return {
    days: `${dayInWords(week.firstDay)} to ${dayInWords(week.lastDay)}`,
    leak:
      leak === null
        ? 'No lane earned less than quoted.'
        : `${laneName(leak.lane)} earned ${formatDollars(leak.lostCents)} less than quoted.`,
    moved: moved.map(({ lane, marginCents, beforeCents, quotes }) => ({
      lane,
      name: laneName(lane),
      change: dollarsMoved(marginCents - beforeCents),
      isUp: marginCents > beforeCents,
      detail: `${formatDollars(marginCents)} after ${formatDollars(beforeCents)}, ${quotes} ${quotes === 1 ? 'quote' : 'quotes'}`,
    })),
    note: `Quotes count in the week in which they were made. Margin is AR minus AP of the shipments where both are known. Amounts are ${basisWords[basis]} US dollars.`,
    stop: 'You can turn this mail off in Lanewise under Settings, Your account.',
  }
}

function textOf(report: WeeklyReport, brokerage: string, links: ReturnType<typeof linksOf>): string {
  const words = wordsOf(report)
  const { leak } = report
  const moved = words.moved.map(({ name, change, detail }) => `  ${change}  ${name} (${detail})`)
  return [
    `${brokerage}: the week of ${words.days}`,
    '',
    ...linesOf(report).map(({ label, value, change }) => `${label}: ${value} (${change})`),
    '',
    `Largest leak: ${words.leak}`,
    ...(links === null || leak === null ? [] : [links.lane(leak.lane)]),
    '',
    'Lanes whose margin moved:',
    ...(moved.length === 0 ? ['  none'] : moved),
    '',
    `The same figures in Lanewise: ${links?.results ?? 'the page Results'}`,
    '',
    words.note,
    words.stop,
    '',
  ].join('\n')
}

const font = 'font-family:Arial,Helvetica,sans-serif;color:#1c2430'
const colorOf = (isUp: boolean | null) => (isUp === null ? '#5b6370' : isUp ? '#1e7a46' : '#b3261e')

const anchor = (address: string | undefined, text: string) =>
  address === undefined
    ? escaped(text)
    : `<a href="${escaped(address)}" style="color:#2f5fb3">${escaped(text)}</a>`

/** Tables and inline styles: mail programs know little else. */
function htmlOf(report: WeeklyReport, brokerage: string, links: ReturnType<typeof linksOf>): string {
  const words = wordsOf(report)
  const { leak, margins } = report
  const largest = Math.max(1, ...report.moved.map((one) => Math.abs(one.marginCents - one.beforeCents)))
  const cells = linesOf(report).map(
    ({ label, value, change, isUp }) =>
      `<td width="25%" valign="top" style="padding:8px;${font}"><div style="font-size:13px;color:#5b6370">${label}</div><div style="font-size:20px;font-weight:bold">${escaped(value)}</div><div style="font-size:12px;color:${colorOf(isUp)}">${escaped(change)}</div></td>`,
  )
  const rows = words.moved.map(({ lane, name, change, isUp, detail }, nth) => {
    const one = report.moved[nth]
    const share = one === undefined ? 0 : Math.abs(one.marginCents - one.beforeCents) / largest
    const bar = `<div style="height:8px;width:${Math.max(1, Math.round(share * 120))}px;background:${colorOf(isUp)}"></div>`
    return `<tr><td style="padding:4px 8px;font-size:13px;${font}">${anchor(links?.lane(lane), name)}<div style="color:#5b6370;font-size:12px">${escaped(detail)}</div></td><td style="padding:4px 8px;font-size:13px;white-space:nowrap;${font};color:${colorOf(isUp)}">${escaped(change)}${bar}</td></tr>`
  })
  const alternative = `Margin of the last ${margins.length} weeks: ${margins.map(dollars).join(', ')}`
  const heading = (text: string) => `<h2 style="font-size:15px;margin:16px 8px 4px;${font}">${text}</h2>`
  const paragraph = (html: string) => `<p style="font-size:13px;margin:4px 8px;${font}">${html}</p>`
  return [
    '<!doctype html><html><head><meta charset="utf-8"><title>Weekly report</title></head><body style="margin:0;background:#ffffff">',
    '<table role="presentation" width="600" cellpadding="0" cellspacing="0" align="center"><tr><td>',
    `<h1 style="font-size:18px;margin:16px 8px 4px;${font}">${escaped(brokerage)}: the week of ${escaped(words.days)}</h1>`,
    `<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr>${cells.join('')}</tr></table>`,
    heading(`Margin of the last ${margins.length} weeks`),
    `<img src="cid:picture" width="${pictureSize.width}" height="${pictureSize.height}" alt="${escaped(alternative)}" style="margin:0 8px">`,
    heading('Largest leak'),
    paragraph(leak === null ? escaped(words.leak) : anchor(links?.lane(leak.lane), words.leak)),
    heading('Lanes whose margin moved'),
    rows.length === 0
      ? paragraph('None.')
      : `<table role="presentation" cellpadding="0" cellspacing="0">${rows.join('')}</table>`,
    paragraph(anchor(links?.results, 'The same figures in Lanewise')),
    `<p style="font-size:12px;margin:16px 8px;${font};color:#5b6370">${escaped(words.note)} ${anchor(links?.account, words.stop)}</p>`,
    '</td></tr></table></body></html>',
  ].join('\n')
}

/**
 * The mail with a report: the same figures as text and as HTML, and the picture of the last weeks.
 *
 * @param publicUrl the address of the product; without one, the mail has no links
 */
export function reportMail(
  report: WeeklyReport,
  { brokerage, publicUrl }: { readonly brokerage: string; readonly publicUrl: string | null },
): ReportMail {
  const links = linksOf(report, publicUrl)
  const { marginCents, winRatePct } = report.now
  return {
    subject: `${brokerage}, week of ${dayInWords(report.week.firstDay)}: margin ${dollars(marginCents)}, win rate ${percent(winRatePct)}`,
    text: textOf(report, brokerage, links),
    html: htmlOf(report, brokerage, links),
    picture: barPicture(report.margins),
  }
}
