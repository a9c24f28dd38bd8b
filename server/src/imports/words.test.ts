import { describe, expect, it } from 'vitest'
import { likelyEquipment, likelyOutcome, readOutcome } from '../csv/index.ts'
import { readColumns } from './columns.ts'
import { FileWords } from './file-words.ts'
import { knownCells } from './known-cells.ts'
import { readLine } from './returned-rows.ts'
import { type Word, wordPair, wordsOf } from './word-meanings.ts'

const header = ['Origin', 'Destination', 'Equipment', 'Quoted Rate', 'Quote Date', 'Status', 'Currency']

function columnsOf(map: string) {
  const read = readColumns(header, map)
  if ('problems' in read) throw new Error(read.problems.map(({ detail }) => detail).join(' '))
  return read.columns
}

function lineOf({ equipment = 'V', status = 'Won', currency = '' }, map = '') {
  const cells = ['Dallas, TX', 'Atlanta, GA', equipment, '2100', '2026-03-01', status, currency]
  const now = Date.parse('2026-06-01')
  return readLine(cells, { columns: columnsOf(map), now, assumed: 'all_in', known: knownCells() })
}

describe('status words', () => {
  it.each([
    ['Lost to competition', 'lost', 'other'],
    ['LOST - price too high', 'lost', 'price'],
    ['Rejected: rate', 'lost', 'price'],
    ['Lost, no response', 'lost', 'no_response'],
    ['Perdido', 'lost', null],
    ['Perdido por precio', 'lost', 'price'],
    ['Sin respuesta', 'lost', 'no_response'],
    ['Refusé', 'lost', null],
    ['Refusé - prix trop élevé', 'lost', 'price'],
    ['Ganado', 'won', null],
    ['Acceptée', 'won', null],
    ['Pendiente', 'pending', null],
    ['En attente', 'pending', null],
    ['Vencida', 'expired', null],
    ['Expiré', 'expired', null],
    // Somebody else got the load: "covered" alone is won.
    ['Covered by competitor', 'lost', 'other'],
    ['Booked with another broker', 'lost', 'other'],
    ['Se fue con la competencia', 'lost', 'other'],
    ['Attribué à un concurrent', 'lost', 'other'],
    ["Perdu au profit d'un concurrent", 'lost', 'other'],
    ['Precio muy alto', 'lost', 'price'],
    ['Trop cher', 'lost', 'price'],
    ['Sin capacidad', 'lost', 'capacity'],
    ['No respondió', 'lost', 'no_response'],
    ['Aucune réponse', 'lost', 'no_response'],
    ['En tránsito', 'won', null],
    ['Asignada', 'won', null],
    ['Terminé', 'won', null],
    ['Por confirmar', 'pending', null],
    ['À confirmer', 'pending', null],
    ['En cours', 'pending', null],
    ['Périmée', 'expired', null],
  ])('%s is %s, because of %s', (text, outcome, reason) => {
    expect(readOutcome(text)).toEqual({ value: { outcome, reason } })
  })

  it.each([
    ['Lost to CH Robinson', 'lost'],
    ['Won - Dana', 'won'],
    ['Sent/Waiting', 'pending'],
    // The load was won; its freight was lost, or its tender was declined.
    ['Lost in transit', null],
    ['Declined by carrier', null],
    // The broker can be the brokerage itself.
    ['Covered by broker', 'won'],
    ['Refusé par le client', 'lost'],
    ['Rechazado por cliente', 'lost'],
    ['Not won', null],
    ['Lost, then won', null],
    ['Dead', null],
    ['丢失', null],
  ])('%s is asked about; its likely meaning is %s', (text, likely) => {
    expect(readOutcome(text)).toHaveProperty('wrong')
    expect(likelyOutcome(text)).toBe(likely)
  })

  it('a cancelled load is no outcome, and its row is likely left out', () => {
    const texts = [
      'Cancelled',
      'Customer canceled',
      'Cancelado',
      'Cancelada por el cliente',
      'Cliente canceló',
      'CLIENTE CANCELO',
      'Anulada',
      'Annulé',
      'Annulée',
      'Le client a annulé',
    ]
    for (const text of texts) {
      expect(readOutcome(text)).toHaveProperty('wrong')
      expect(likelyOutcome(text)).toBe('skip')
      const { read } = lineOf({ status: text })
      expect(read).toMatchObject({ kind: 'refused', outcome: null })
      // The step "Words" offers a choice.
      expect(read.kind === 'refused' ? wordsOf(read.errors) : []).toEqual([{ field: 'outcome', text }])
    }
  })
})

it.each([
  ['53 RGN w/ tarp', 'RGN'],
  ['Flatbed w/ tarps', 'F'],
  ['Reefer (team)', 'R'],
  ['Van or Reefer', null],
  ['Sprinter van', null],
  ['Curtain side', null],
])('the likely equipment of %s is %s', (text, code) => expect(likelyEquipment(text)).toBe(code))

describe('a map', () => {
  it.each([
    ['outcome:Lost to CHR=lost', { status: 'LOST, to CHR!' }, { outcome: 'lost' }],
    ['outcome:Dead=lost price', { status: 'Dead' }, { outcome: 'lost', outcome_reason: 'price' }],
    ['outcome:"Dead, a=b ""x"""=won', { status: 'Dead, a=b "x"' }, { outcome: 'won' }],
    ['outcome:丢失=lost', { status: '丢失' }, { outcome: 'lost' }],
    ['outcome:Booked=lost', { status: 'Booked' }, { outcome: 'lost' }],
    ["equipment:53' RGN w/ tarp=RGN", { equipment: "53' RGN w/ tarp" }, { equipment_code: 'RGN' }],
    ['quoted_currency:Loonies=CAD', { currency: 'Loonies' }, { quoted_currency: 'CAD' }],
  ])('%s says what the word means', (map, cells, columns) => {
    const { read, stated } = lineOf(cells, map)
    expect(read).toMatchObject({ kind: 'quote', quote: { columns } })
    expect(stated).toHaveLength(1)
  })

  it('leaves out the rows of a word, also of a known one', () => {
    expect(lineOf({ status: 'Dead' }, 'outcome:dead=skip')).toMatchObject({ leftOut: 'skipped' })
    expect(lineOf({ status: 'Booked' }, 'outcome:Booked=skip')).toMatchObject({ leftOut: 'skipped' })
    expect(lineOf({ status: 'Won' }, 'outcome:dead=skip')).toMatchObject({ leftOut: null, stated: [] })
  })

  it.each([
    ['outcome:Dead=gone', 'the meaning must be won, lost'],
    ['outcome:Dead=', 'the meaning must be won, lost'],
    ['outcome:=lost', 'between ":" and "=" must be a word'],
    ['outcome:Dead=lost,outcome:DEAD=won', 'state it once'],
    ['equipment:Anything=53', 'an equipment code such as V, R or F'],
    ['quoted_rate:call=1', 'only words of outcome, equipment'],
    ['quoted_currency:Pesos mexicanos (MXN)=USD', 'can only be left out with skip'],
    ['outcom:Dead=lost', 'which does not exist'],
  ])('%s is refused by name', (map, detail) => {
    const read = readColumns(header, map)
    expect('problems' in read ? read.problems[0]?.detail : null).toContain(detail)
  })
})

it('the words of a file are counted once for a row, with a pair that a map reads back', () => {
  const words = new FileWords(columnsOf('outcome:Gone=skip'))
  const unknown = (status: string, equipment = 'V') => {
    const { read, stated, leftOut } = lineOf({ status, equipment }, 'outcome:Gone=skip')
    return [...stated, ...(leftOut === null && read.kind === 'refused' ? wordsOf(read.errors) : [])]
  }
  for (const word of [
    ...unknown('Lost to CHR, again', 'Tarped flat bed, 48'),
    ...unknown('LOST TO CHR again'),
    ...unknown('Gone'),
    ...unknown('Won'),
  ])
    words.add(word)
  expect(words.list()).toMatchObject([
    {
      field: 'outcome',
      column: 'Status',
      word: 'Lost to CHR, again',
      rows: 2,
      meaning: null,
      likely: 'lost',
    },
    { field: 'equipment', rows: 1, likely: 'F' },
    { word: 'Gone', rows: 1, meaning: 'skip' },
  ])
  expect(words.notes().map(({ detail }) => detail)).toEqual([
    'Status: words that are not known: "Lost to CHR, again" (2 rows). State what they mean in the map, such as outcome:"Lost to CHR, again"=lost.',
    'Equipment: words that are not known: "Tarped flat bed, 48" (1 row). State what they mean in the map, such as equipment:"Tarped flat bed, 48"=F.',
  ])
  const odd: Word = { field: 'outcome', text: 'a "b", c=d' }
  expect(columnsOf(`${wordPair(odd)}=lost`).words.outcome?.size).toBe(1)
})
