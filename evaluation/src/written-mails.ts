import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'

/** What a mail says about a lane. `ask` is a field that must become a question. */
export interface TrueLane {
  origin: string
  destination: string
  stops: string[]
  pickup: string | null
  delivery: string | null
  equipment: string | null
  ask: readonly ('origin' | 'destination' | 'pickup' | 'delivery' | 'equipment')[]
}

/** A written mail with its truth. */
export interface WrittenMail {
  readonly layout: string
  readonly subject: string
  readonly text: string
  readonly isHtml: boolean
  readonly tables: readonly string[]
  readonly from: string
  readonly lanes: readonly TrueLane[]
  readonly customer: string | null
}

/** The day on which all mails are written: a Tuesday. */
export const writtenAt = Date.UTC(2026, 11, 1, 15, 30)
export const writtenZone = 'America/Chicago'
export const knownSenders = [
  { sender: 'acmefoods.com', customer: 'Acme Foods' },
  { sender: 'globexpaper.com', customer: 'Globex Paper' },
  { sender: 'ana.ruiz@gmail.com', customer: 'Ruiz Produce' },
]
export const ownPeople = new Set(['rep@lanehaul.com'])

const cities: readonly (readonly [city: string, state: string, zip: string])[] = [
  ['Dallas', 'TX', '75201'],
  ['Atlanta', 'GA', '30303'],
  ['Reno', 'NV', '89501'],
  ['Boise', 'ID', '83702'],
  ['Fort Worth', 'TX', '76102'],
  ['Salt Lake City', 'UT', '84101'],
  ['Memphis', 'TN', '38103'],
  ['Joliet', 'IL', '60431'],
  ['Columbus', 'OH', '43215'],
  ['Kansas City', 'MO', '64106'],
  ['Laredo', 'TX', '78040'],
  ['Toledo', 'OH', '43604'],
  ['Fresno', 'CA', '93721'],
  ['Portland', 'OR', '97201'],
  ['Lakeland', 'FL', '33801'],
  ['Charlotte', 'NC', '28202'],
  ['Harrisburg', 'PA', '17101'],
  ['Green Bay', 'WI', '54301'],
  ['Omaha', 'NE', '68102'],
  ['Van Buren', 'AR', '72956'],
  ['Gary', 'IN', '46402'],
  ['St. Louis', 'MO', '63101'],
  ['Little Rock', 'AR', '72201'],
  ['El Paso', 'TX', '79901'],
  ['Ontario', 'CA', '91761'],
  ['Las Vegas', 'NV', '89101'],
  ['West Chicago', 'IL', '60185'],
  ['Oklahoma City', 'OK', '73102'],
  ['Bangor', 'ME', '04401'],
  ['Mobile', 'AL', '36602'],
]
const codes: readonly (readonly [code: string, place: string])[] = [
  ['DFW', 'Dallas, TX'],
  ['ATL', 'Atlanta, GA'],
  ['ORD', 'Chicago, IL'],
  ['LAX', 'Los Angeles, CA'],
  ['PHX', 'Phoenix, AZ'],
  ['SEA', 'Seattle, WA'],
  ['MEM', 'Memphis, TN'],
  ['OKC', 'Oklahoma City, OK'],
]
const trailers: readonly (readonly [word: string, code: string])[] = [
  ['van', 'V'],
  ['dry van', 'V'],
  ["53' dry van", 'V'],
  ['reefer', 'R'],
  ["53' reefer", 'R'],
  ['flatbed', 'F'],
  ['step deck', 'SD'],
  ['power only', 'PO'],
]
const goods = ['frozen chicken', 'paper rolls', 'canned goods', 'bottled water', 'lumber', 'auto parts']
/** Days after the mail, and how people write them. 2 December 2026 is a Wednesday. */
const days: readonly (readonly [written: string, day: string])[] = [
  ['12/3', '2026-12-03'],
  ['12/7', '2026-12-07'],
  ['12/10', '2026-12-10'],
  ['Thursday', '2026-12-03'],
  ['Fri', '2026-12-04'],
  ['tomorrow', '2026-12-02'],
  ['Dec 8', '2026-12-08'],
  ['12/09/26', '2026-12-09'],
  ['December 11th', '2026-12-11'],
  ['Mon 12/7', '2026-12-07'],
  ['2026-12-08', '2026-12-08'],
]
const laterDays: readonly (readonly [written: string, day: string])[] = [
  ['12/14', '2026-12-14'],
  ['Dec 15', '2026-12-15'],
  ['12/16/2026', '2026-12-16'],
  ['Mon 12/14', '2026-12-14'],
]
const signatures = [
  '\n\nThanks,\nJohn Miller\nLogistics Manager | Acme Foods\n500 Commerce St, Dallas, TX 75202\n(214) 555-0133 | john@acmefoods.com',
  '\n\nBest regards,\nSue\n--\nGlobex Paper\nHouston, TX - Tulsa, OK - Denver, CO\n713-555-0188',
  '\n\nThank you!\n\nCONFIDENTIALITY NOTICE: This email and any attachments are for the intended recipient in Miami, FL only.',
  '\n\nThx\nMike',
  '',
]

/** The choices of one mail. */
export class Writer {
  readonly #random: () => number
  constructor(seed: number) {
    this.#random = seededNumbers(seed)
  }
  one<T>(list: readonly T[]): T {
    const chosen = list[Math.floor(this.#random() * list.length)]
    if (chosen === undefined) throw new Error('nothing to choose from')
    return chosen
  }
  number(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1))
  }
  /** Different cities. */
  cities(count: number): { city: string; state: string; zip: string; name: string }[] {
    const left = [...cities]
    return Array.from({ length: count }, () => {
      const [chosen] = left.splice(Math.floor(this.#random() * left.length), 1)
      if (chosen === undefined) throw new Error('too many cities')
      const [city, state, zip] = chosen
      return { city, state, zip, name: `${city}, ${state}` }
    })
  }
  code(not: string | null = null) {
    return this.one(codes.filter(([code]) => code !== not))
  }
  trailer() {
    const [word, code] = this.one(trailers)
    return { word, code }
  }
  day() {
    const [word, day] = this.one(days)
    return { word, day }
  }
  later() {
    const [word, day] = this.one(laterDays)
    return { word, day }
  }
  goods() {
    return this.one(goods)
  }
  pounds() {
    return this.number(20, 44) * 1000
  }
  /** Loads between different cities: from `a` to `b`, in a trailer `t`, on a day `d`. */
  loads(count: number) {
    const all = this.cities(2 * count)
    return Array.from({ length: count }, (_, nth) => ({
      a: all[2 * nth]?.name ?? '',
      b: all[2 * nth + 1]?.name ?? '',
      t: this.trailer(),
      d: this.day(),
    }))
  }
  signature() {
    return this.one(signatures)
  }
}

/** What a layout writes. The rest has usual values. */
export interface Draft {
  readonly subject?: string
  readonly text: string
  readonly isHtml?: boolean
  readonly tables?: readonly string[]
  readonly from?: string
  readonly customer?: string | null
  readonly lanes: readonly TrueLane[]
}

/** A lane of the truth. */
export function lane(origin: string, destination: string, rest: Partial<TrueLane> = {}): TrueLane {
  return { origin, destination, stops: [], pickup: null, delivery: null, equipment: null, ask: [], ...rest }
}

export type Layout = (writer: Writer) => Draft

/** Mails in the given layouts, in turn. */
export function writeMails(
  layouts: Readonly<Record<string, Layout>>,
  count: number,
  seed: number,
): WrittenMail[] {
  const names = Object.keys(layouts)
  return Array.from({ length: count }, (_, nth) => {
    const layout = names[nth % names.length] ?? ''
    const writer = new Writer(seed + nth * 7919)
    for (let skip = 0; skip < 5; skip++) writer.number(0, 1)
    const draft = layouts[layout]?.(writer)
    if (draft === undefined) throw new Error(layout)
    const {
      subject = 'Rate request',
      isHtml = false,
      tables = [],
      from = 'john@acmefoods.com',
      customer = 'Acme Foods',
      ...rest
    } = draft
    return { layout, subject, isHtml, tables, from, customer, ...rest }
  })
}
