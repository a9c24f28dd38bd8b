/**
 * The address that opens a message in the person's mail program, without sending it. Without `to`, the person names the recipient there.
 *
 * @example mailLink({ subject: 'Dallas to Atlanta', text: 'Hi,' }) // 'mailto:?subject=Dallas%20to%20Atlanta&body=Hi%2C'
 */
export function mailLink({
  to = '',
  subject,
  text,
}: {
  readonly to?: string
  readonly subject: string
  readonly text: string
}): string {
  const body = text.replaceAll('\n', '\r\n')
  return `mailto:${encodeURIComponent(to)}?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(body)}`
}
