/** A customer whose mail is known: by an address, or by all addresses of a domain. */
export interface KnownSender {
  /** `ana@acme.com`, or a domain: `acme.com`. */
  readonly sender: string
  readonly customer: string
}

/** Domains that many companies share: an address of them is known alone. */
const sharedDomains = new Set(
  'gmail.com googlemail.com yahoo.com hotmail.com outlook.com live.com msn.com aol.com icloud.com me.com comcast.net att.net verizon.net protonmail.com proton.me gmx.com mail.com ymail.com sbcglobal.net'.split(
    ' ',
  ),
)

function isSharedDomain(domain: string): boolean {
  return sharedDomains.has(domain.toLowerCase())
}

/** The address in `Ana Ruiz <ana@acme.com>`; null if there is none or more than one. */
export function addressIn(text: string): string | null {
  const found = [...text.matchAll(/[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z\d.-]{1,255}/gi)].map(([one]) =>
    one.toLowerCase().replace(/\.$/, ''),
  )
  const [only] = new Set(found)
  return only !== undefined && new Set(found).size === 1 ? only : null
}

/** The customers of a sender, the one of the exact address first. One is an answer, none or several are a question. */
export function customersOf(address: string, known: readonly KnownSender[]): string[] {
  const domain = address.slice(address.lastIndexOf('@') + 1)
  const exact = known.filter(({ sender }) => sender.toLowerCase() === address)
  const ofDomain = isSharedDomain(domain) ? [] : known.filter(({ sender }) => sender.toLowerCase() === domain)
  return [...new Set((exact.length > 0 ? exact : ofDomain).map(({ customer }) => customer))]
}
