import type { SeededRandom } from '#server/sample/seeded-random.ts'

/** The trade of a sample customer, which determines its equipment. */
export type SampleTrade = 'food' | 'retail' | 'building' | 'industrial' | 'beverage' | 'paper'

/** Company names are coined words, so that none of them is a real firm. */
const coinedWords = [
  'Brindlemoor',
  'Quillhaven',
  'Tarnbeck',
  'Ostermere',
  'Vellorin',
  'Kestrowe',
  'Marrowfen',
  'Dunsallow',
  'Pellwick',
  'Harrowmist',
  'Corvanne',
  'Ashenbrook',
  'Tillandry',
  'Wexmarch',
  'Orlidge',
  'Fennimoor',
  'Gravenholt',
  'Lindequay',
  'Sallowby',
  'Thornacre',
  'Umberlode',
  'Yarrowick',
  'Zephwick',
  'Basaltine',
  'Cindermoss',
  'Drayhollow',
  'Eldermarsh',
  'Foxlathe',
  'Gildenfarr',
  'Hobblestone',
  'Inverlode',
  'Junimarrow',
  'Kindlewick',
  'Larkhollow',
  'Mossgrave',
  'Nettlebury',
  'Oakensward',
  'Pinderlow',
  'Quartzmoor',
  'Rushlorne',
  'Silverthrush',
  'Tamarrow',
  'Underbeck',
  'Vintrell',
  'Willowmarch',
  'Brackenfold',
  'Copperlark',
  'Dovetarn',
  'Emberlathe',
  'Farrowgate',
]

const customerEndings: Readonly<Record<SampleTrade, readonly string[]>> = {
  food: ['Foods', 'Produce', 'Farms', 'Dairy', 'Provisions'],
  retail: ['Home Goods', 'Stores', 'Outfitters', 'Retail'],
  building: ['Lumber', 'Steel', 'Building Products', 'Roofing'],
  industrial: ['Plastics', 'Controls', 'Components', 'Chemicals', 'Tooling'],
  beverage: ['Beverage', 'Bottling', 'Brewing'],
  paper: ['Paper', 'Packaging', 'Print Works'],
}

const carrierEndings = [
  'Transport LLC',
  'Trucking Inc',
  'Freight Lines',
  'Carriers LLC',
  'Express Inc',
  'Haulage LLC',
  'Logistics LLC',
  'Lines Inc',
]

/** The people of the sample brokerage: sales reps, admins and the owner. */
export const samplePeople = [
  { name: 'Marguerite Oduya', role: 'owner' },
  { name: 'Tobias Lindgate', role: 'admin' },
  { name: 'Priya Vantongeren', role: 'member' },
  { name: 'Desmond Achterberg', role: 'member' },
  { name: 'Lucia Ferromonte', role: 'member' },
  { name: 'Wendell Okonjo', role: 'member' },
  { name: 'Hana Brightwater', role: 'member' },
  { name: 'Caleb Strandquist', role: 'member' },
] as const

/** Draws names without repetition. */
export function nameGiver(random: SeededRandom): {
  customer: (trade: SampleTrade) => string
  carrier: () => { carrierName: string; carrierMc: string }
} {
  const used = new Set<string>()
  const unused = (make: () => string): string => {
    let name = make()
    while (used.has(name)) name = make()
    used.add(name)
    return name
  }
  return {
    customer: (trade) => unused(() => `${random.pick(coinedWords)} ${random.pick(customerEndings[trade])}`),
    carrier: () => ({
      carrierName: unused(() => `${random.pick(coinedWords)} ${random.pick(carrierEndings)}`),
      // MC numbers above 1,900,000 have the length of new authorities and are above those issued, so none belongs to a
      // real carrier.
      carrierMc: unused(() => `MC-${1_900_000 + Math.floor(random.uniform() * 99_999)}`),
    }),
  }
}
