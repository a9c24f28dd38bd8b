import { describe, expect, it } from 'vitest'
import { finished } from '#engine/steps.ts'
import { threadMs } from '#testing/thread-time.ts'
import { importFieldNames, importFields } from '../csv/index.ts'
import { matchColumns as columnsInSteps, readColumns } from './columns.ts'
import { pastedFieldOf } from './pasted-names.ts'
import { readPasted } from './pasted-quotes.ts'

const matchColumns = (header: readonly string[], map?: string) => finished(columnsInSteps(header, map))

function namesOf(header: string[], map?: string) {
  const read = readColumns(header, map)
  if ('problems' in read) throw new Error(read.problems.map(({ detail }) => detail).join('\n'))
  return read.columns.names
}

function problemsOf(header: string[], map?: string) {
  const read = readColumns(header, map)
  return 'problems' in read ? read.problems : []
}

const plain = ['origin', 'destination', 'equipment', 'quoted_rate', 'quoted_at']

describe('readColumns', () => {
  it('recognizes the column names of TMSs and load boards, in any case, spacing and punctuation', () => {
    expect(
      namesOf([
        'SHIP FROM',
        'ship_to',
        'Equip. Type',
        'Sell Rate ($)',
        'buy-rate',
        'Load #',
        'QuoteDate',
        'MC #',
        'Shipper Name',
      ]),
    ).toEqual({
      origin: 'SHIP FROM',
      destination: 'ship_to',
      equipment: 'Equip. Type',
      customer_rate: 'Sell Rate ($)',
      truck_cost: 'buy-rate',
      reference: 'Load #',
      quoted_at: 'QuoteDate',
      carrier_mc: 'MC #',
      customer_name: 'Shipper Name',
    })
  })

  it('maps no column name to two fields', () => {
    const all = importFieldNames.flatMap((field) => [field, ...importFields[field].aliases])
    const folded = all.map((name) => name.toLowerCase().replace(/[^a-z0-9]/g, ''))
    expect(folded.filter((name, index) => folded.indexOf(name) !== index)).toEqual([])
  })

  it('reads headers in Spanish and French, and asks about the same ambiguous names', () => {
    const read = {
      origin: ['Origen', 'Lieu de ramassage'],
      destination: ['DESTINO', 'Lieu de livraison'],
      equipment: ['Tipo de equipo', 'Équipement'],
      quoted_rate: ['Tarifa cotizada', 'Prix soumis'],
      truck_cost: ['Costo del transportista', 'Coût transporteur'],
      outcome: ['Estatus', 'Résultat'],
      outcome_reason: ['Motivo', 'Raison'],
      quoted_at: ['Fecha de cotizacion', 'Date de soumission'],
      customer_name: ['Cliente', 'Nom du client'],
      reference: ['Folio', 'No de soumission'],
    }
    for (const nth of [0, 1]) {
      const header = Object.fromEntries(Object.entries(read).map(([field, names]) => [field, names[nth]]))
      expect(namesOf(Object.values(header) as string[])).toEqual(header)
    }
    const { mayBe } = matchColumns(['Origen', 'Destino', 'Equipo', 'Tarifa', 'Fecha', 'Estado'])
    expect(mayBe).toMatchObject({ quoted_rate: [3], customer_rate: [3], quoted_at: [4], outcome: [5] })
  })

  it('reads a target as the rate of pasted rows, and asks about it in a file', () => {
    const header = ['Origin', 'Destination', 'Equip', 'Target']
    const text = `${header.join('\t')}\nDallas, TX\tAtlanta, GA\tV\t1500`
    const dates = { timeZone: 'UTC', order: 'month_first', chosen: null } as const
    const { columns } = finished(readPasted(text, { now: 0, assumed: 'all_in', dates }))
    expect(columns[3]).toMatchObject({ name: 'Target', field: 'quoted_rate' })
    expect(matchColumns(header).mayBe).toMatchObject({ quoted_rate: [3] })
  })

  it('guesses names of short words, and asks about amounts with a qualifier or only a dollar sign', () => {
    const header = [
      'Origin',
      'Destination',
      'Trlr Type',
      'Cust Nm',
      'Quote Dt',
      'Bill To Cust $',
      'Buy $ (carrier)',
    ]
    const { columns, guessed, mayBe } = matchColumns(header)
    expect(columns.names).toMatchObject({
      equipment: 'Trlr Type',
      customer_name: 'Cust Nm',
      quoted_at: 'Quote Dt',
    })
    expect([...guessed].sort()).toEqual(['customer_name', 'equipment', 'quoted_at'])
    expect(mayBe).toMatchObject({ quoted_rate: [5], customer_rate: [5], truck_cost: [5, 6] })
    // A clear name comes first, and two short ones are not guessed.
    expect(matchColumns([...header, 'Customer']).columns.names.customer_name).toBe('Customer')
    expect(matchColumns([...header, 'Cust']).columns.names.customer_name).toBeUndefined()
  })

  it('reads a city next to a state, also when the city column is called origin', () => {
    expect(namesOf(['Origin', 'Origin State', 'dest_city', 'dest_state', ...plain.slice(2)])).toMatchObject({
      origin_city: 'Origin',
      origin_state: 'Origin State',
      destination_city: 'dest_city',
      destination_state: 'dest_state',
    })
  })

  it('reports the ignored columns', () => {
    const read = readColumns([...plain, 'pnl', ''])
    expect('columns' in read && read.columns.ignored).toEqual(['pnl'])
  })

  it('names every missing field with its expected column', () => {
    const problems = problemsOf(['destination', 'equipment', 'Colour'])
    expect(problems.map(({ column }) => column)).toEqual(['origin', 'quoted_rate'])
    expect(problems[0]?.detail).toContain('must be named origin or origin_city')
    expect(problems[0]?.detail).toContain('origin=COLUMN')
  })

  it('suggests a column with a similar spelling', () => {
    const [problem] = problemsOf(['Orgin', ...plain.slice(1)])
    expect(problem).toMatchObject({ column: 'Orgin' })
    expect(problem?.detail).toContain('origin=Orgin')
  })

  it('needs no date column, and says what it assumes', () => {
    const { needs, problems } = matchColumns(['origin', 'destination', 'equipment', 'quoted_rate'])
    expect(problems).toEqual([])
    expect(needs.filter(({ isMet }) => !isMet)).toMatchObject([
      { what: 'the date', assumed: expect.stringContaining('at the time of the import') },
    ])
  })

  it('does not guess the meaning of a plain "Rate", and explains how to map it', () => {
    const [problem, ...more] = problemsOf(['origin', 'destination', 'equipment', 'Rate', 'quoted_at'])
    expect(more).toEqual([])
    expect(problem?.column).toBe('Rate')
    expect(problem?.detail).toContain('quoted_rate=Rate')
  })

  it('asks to choose between two matching columns', () => {
    const [problem] = problemsOf([...plain, 'Sell Rate', 'AR'])
    expect(problem?.detail).toContain('"Sell Rate" and "AR" could each be customer_rate')
    expect(namesOf([...plain, 'Sell Rate', 'AR'], 'customer_rate=AR').customer_rate).toBe('AR')
  })

  it("prefers the field's own name to an alias", () => {
    expect(namesOf([...plain, 'AR', 'customer_rate']).customer_rate).toBe('customer_rate')
  })

  it('rejects a column that appears twice', () => {
    expect(problemsOf([...plain, 'quoted_rate'])[0]?.detail).toBe(
      'The column "quoted_rate" appears 2 times; rename all but one, or choose one with the map quoted_rate=#4.',
    )
  })

  it('gives a map precedence over known names, with commas inside double quotes', () => {
    const header = ['From, city', 'destination', 'equipment', 'Rate', 'quoted_at', 'Status']
    expect(namesOf(header, 'origin="From, city", quoted_rate = rate,outcome=')).toMatchObject({
      origin: 'From, city',
      quoted_rate: 'Rate',
    })
    expect(namesOf(header, 'origin="From, city",quoted_rate=Rate,outcome=')).not.toHaveProperty('outcome')
  })

  it('reads a map of names with equals signs, commas and double quotes', () => {
    const header = ['a=b', 'x, y=z', 'Rate "all in", $', 'equipment', 'quoted_at']
    const map = 'origin=a=b,destination="x, y=z",quoted_rate="Rate ""all in"", $"'
    expect(namesOf(header, map)).toMatchObject({
      origin: 'a=b',
      destination: 'x, y=z',
      quoted_rate: 'Rate "all in", $',
    })
  })

  it('reads a map of columns by number, for repeated or missing names', () => {
    const header = ['City', 'State', 'City', 'State', '', 'equipment', 'quoted_at', '#1']
    const map =
      'origin_city=#1,origin_state=#2,destination_city=#3,destination_state=#4,quoted_rate=#5,customer_name="#1"'
    const read = readColumns(header, map)
    expect('columns' in read && read.columns.positions).toMatchObject({
      origin_city: 0,
      destination_state: 3,
      quoted_rate: 4,
      customer_name: 7,
    })
    expect(problemsOf(header, 'origin=#9')[0]?.detail).toBe(
      'The map reads origin from column #9; the file has 8.',
    )
    expect(problemsOf(header, 'origin=City')[0]?.detail).toContain('or choose one with origin=#1')
  })

  it('reports the problems of a map', () => {
    const detail = (map: string) => problemsOf(plain, map)[0]?.detail ?? ''
    expect(detail('quoted_rate')).toContain('must be a pair such as quoted_rate=Sell Rate')
    expect(detail('sell_rate=quoted_rate')).toContain('Did you mean customer_rate=quoted_rate?')
    expect(detail('colour=origin')).toContain('The fields are origin, origin_city')
    expect(detail('origin=From')).toContain(
      '"From", which is no column of the file. Its columns are "origin"',
    )
    expect(detail('origin=origin,origin=destination')).toContain('names origin twice')
  })

  it('accepts a file with lane_refs and bookings, without places', () => {
    expect(namesOf(['lane_ref', 'AR', 'AP'])).toEqual({
      lane_ref: 'lane_ref',
      customer_rate: 'AR',
      truck_cost: 'AP',
    })
    expect(problemsOf(['lane_ref', 'Colour'])[0]?.detail).toContain('a booking or an outcome')
  })
})

describe('matchColumns', () => {
  it('reports for an incomplete header the matches, the candidates and the missing fields', () => {
    const match = matchColumns(['Ship From', 'Rate', 'Equip', 'AR', 'Sell Rate', 'quoted at', 'Outcom'])
    expect(match.columns.names).toMatchObject({ origin: 'Ship From', equipment: 'Equip' })
    expect(match.columns.names).not.toHaveProperty('customer_rate')
    expect(match.mayBe).toEqual({ quoted_rate: [1], truck_cost: [1], customer_rate: [3, 4], outcome: [6] })
    expect(match.needs.filter(({ isMet }) => !isMet)).toEqual([
      {
        what: 'the place of delivery',
        anyOf: [['destination'], ['destination_city', 'destination_state'], ['destination_zip']],
        isMet: false,
        assumed: null,
      },
      { what: 'the rate', anyOf: [['quoted_rate'], ['customer_rate']], isMet: false, assumed: null },
    ])
    expect(match.problems[0]?.detail).toContain('could each be customer_rate')
  })

  it('guesses Pickup, Delivery, Type and Price, and says so', () => {
    const header = ['Pickup', 'Delivery', 'Type', 'Price', 'Quote Date']
    const { columns, guessed, problems } = matchColumns(header)
    expect(columns.names).toMatchObject({
      origin: 'Pickup',
      destination: 'Delivery',
      equipment: 'Type',
      quoted_rate: 'Price',
    })
    expect([...guessed]).toEqual(['origin', 'destination', 'equipment', 'quoted_rate'])
    expect(problems).toEqual([])
    // A map and a column with a known name take precedence, and a name that appears twice is not guessed.
    expect(matchColumns([...header, 'Sell Rate', 'Ship From']).columns.names).toMatchObject({
      origin: 'Ship From',
      customer_rate: 'Sell Rate',
    })
    expect([...matchColumns(header, 'quoted_rate=,origin=#2').guessed]).toEqual(['equipment'])
    expect(matchColumns(['Price', 'Price']).columns.names).toEqual({})
  })

  it('asks about status columns and never matches them by itself', () => {
    const { columns, mayBe } = matchColumns([...plain, 'load_was_cancelled', 'Load Stage', 'cancelled at'])
    expect(columns.names).not.toHaveProperty('cancelled')
    expect(columns.names).not.toHaveProperty('outcome')
    expect(mayBe).toMatchObject({ cancelled: [plain.length], outcome: [plain.length + 1] })
    expect(matchColumns([...plain, 'Cancelled']).mayBe).toMatchObject({ cancelled: [plain.length] })
  })

  it('requires a state next to a city, and no place next to a lane_ref', () => {
    const unmet = (header: string[]) =>
      matchColumns(header).needs.flatMap(({ isMet, what }) => (isMet ? [] : [what]))
    expect(unmet(['origin_city', ...plain.slice(1)])).toEqual(['the state of pickup'])
    expect(unmet(['lane_ref'])).toEqual(['a booking or an outcome'])
    expect(unmet(['lane_ref', 'AR'])).toEqual([])
  })
})

it('handles a header of a thousand long or misspelled columns quickly', { tags: 'measure' }, () => {
  const begun = threadMs()
  for (const name of ['x'.repeat(200), 'orgin stat', 'quoted ratee']) {
    matchColumns(Array.from({ length: 1_000 }, (_, i) => `${name} ${i}`))
  }
  matchColumns(Array.from({ length: 1_000 }, (_, at) => `${'é'.repeat(250)}${at}`))
  matchColumns(['a.'.repeat(250_000)])
  const header = Array.from({ length: 1_000 }, (_, at) => `column ${at}`)
  for (const pair of ['a=b,', 'origin=b,', 'origin=column 7 ,']) matchColumns(header, pair.repeat(30_000))
  problemsOf(['origin'.repeat(40_000)])
  expect(threadMs() - begun).toBeLessThan(1_500)
})

it('a map says what happens to rows that share the id of another load', () => {
  const header = ['Load ID', 'Origin', 'Destination', 'Equipment', 'Quoted Rate', 'Quote Date']
  const sameIds = (map: string) => matchColumns(header, map).columns.sameIds
  expect([sameIds(''), sameIds('same_ids=update'), sameIds('same_ids=Update,reference=Load ID')]).toEqual([
    'ask',
    'update',
    'update',
  ])
  expect(problemsOf(header, 'same_ids=yes').map(({ detail }) => detail)).toEqual([
    'The map says same_ids=yes; it must be same_ids=update.',
  ])
})

describe('a header or a map with many mistakes', () => {
  const long = 'n'.repeat(3_000)
  const header = Array.from({ length: 40 }, (_, at) => `${long}${at}`)
  const pairs = importFieldNames.map((field) => `${field}=${long}`)

  it('is refused with at most 20 problems, which repeat little of it', () => {
    const problems = problemsOf(header, [...pairs, ...Array(400).fill(`x=${long}`)].join(','))
    expect(problems).toHaveLength(20)
    expect(problems.at(-1)?.detail).toMatch(/There are \d+ more problems\./)
    expect(JSON.stringify(problems).length).toBeLessThan(20_000)
    expect(problems[0]?.detail).toContain('Its columns are "nnn')
    expect(problems[1]?.detail).not.toContain('Its columns are')
  })
})

describe('a name means in pasted rows what it means in a file', () => {
  const pastedAs = (header: readonly string[]) => {
    const dates = { timeZone: 'UTC', order: 'month_first', chosen: null } as const
    const text = [header, header.map(() => '?')].map((cells) => cells.join('\t')).join('\n')
    const { columns } = finished(readPasted(text, { now: 0, assumed: 'all_in', dates }))
    return columns.map(({ field }) => field)
  }

  it.each(importFieldNames)('each name of %s', (field) => {
    const names = [field, ...importFields[field].aliases]
    const meant = pastedFieldOf(field)
    // Two columns around it make the line a header.
    for (const name of names) {
      const others =
        meant === 'equipment' || meant === 'miles' ? ['Customer', 'Rate Type'] : ['Equip', 'Mileage']
      expect([name, pastedAs([...others, name])[2]]).toEqual([name, meant])
    }
  })

  it('also a State behind each place, the number of a quote, and a shipper', () => {
    const header = [
      'Origin',
      'State',
      'Destination',
      'State',
      'Equip',
      'Quote #',
      'Shipper',
      'Sell Rate',
      'Sell',
    ]
    const { positions } = matchColumns(header).columns
    expect(positions).toMatchObject({ origin_state: 1, destination_state: 3, reference: 5, customer_name: 6 })
    expect(pastedAs(header)).toEqual([
      'origin',
      'origin_state',
      'destination',
      'destination_state',
      'equipment',
      null,
      'customer_name',
      'quoted_rate',
      null,
    ])
  })
})

it('a State belongs to the place before it only if both places have one', () => {
  const header = ['Origin', 'Destination', 'State', 'Equipment', 'Quoted Rate']
  expect(namesOf(header)).toMatchObject({ origin: 'Origin', destination: 'Destination' })
  expect(matchColumns(header).mayBe).toMatchObject({ origin_state: [2], destination_state: [2] })
})

it('reads a header of a thousand columns in short steps', () => {
  const header = Array.from({ length: 1_000 }, (_, at) => `orgin stat ${at}`)
  let steps = 0
  for (const _ of columnsInSteps(header)) steps++
  expect(steps).toBeGreaterThanOrEqual(100)
})
