import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { day } from './fields.ts'
import { exchangeBytesMax, exchangeRatesMax, exchangeRatesShown } from './limits.ts'
import { datedFile, fileForms } from './sent-file.ts'

const usdPerCad = Type.Number({
  description: 'US dollars per Canadian dollar',
  minimum: 0.5,
  maximum: 1.1,
  'x-expected': 'US dollars per Canadian dollar, from 0.5 to 1.1; the inverse is Canadian per US dollar',
})
export const ExchangeRate = Type.Object({
  day: day('The day of the exchange rate. It applies until the next one, for at most 31 days'),
  usd_per_cad: usdPerCad,
})
const exampleRate = { day: '2026-03-02', usd_per_cad: 0.7312 }

export const listExchangeRates = endpoint({
  name: 'list-exchange-rates',
  method: 'GET',
  path: '/api/exchange-rates',
  summary: 'The newest exchange rates of the Canadian dollar',
  description: `The newest first, at most ${exchangeRatesShown}. Statistics leave out an amount in Canadian dollars if no exchange rate applies on its day.`,
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: Type.Object({ rates: Type.Array(ExchangeRate) }),
  examples: { answer: { rates: [exampleRate] } },
})

const whatHappens =
  'A day that has one gets the new one; other days do not change. Statistics then convert amounts in Canadian dollars by the exchange rate of the day of the quote. If one is not valid, nothing is saved.'
const saved = Type.Object({
  days: Type.Integer({ description: 'Days with an exchange rate', minimum: 1 }),
  changed: Type.Integer({ description: 'Days that are new, or had another one', minimum: 0 }),
  first: ExchangeRate,
  last: ExchangeRate,
})
const exampleSaved = { days: 1, changed: 1, first: exampleRate, last: exampleRate }

export const addExchangeRates = endpoint({
  name: 'add-exchange-rates',
  method: 'POST',
  path: '/api/exchange-rates',
  summary: 'Enter exchange rates of the Canadian dollar',
  description: `Saves a list of exchange rates. ${whatHappens}`,
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'admin' },
  bodyBytesMax: exchangeBytesMax,
  body: Type.Object({
    rates: Type.Array(ExchangeRate, {
      minItems: 1,
      maxItems: exchangeRatesMax,
      'x-expected': `a list of 1 to ${exchangeRatesMax} exchange rates`,
    }),
  }),
  status: 200,
  answer: saved,
  examples: { body: { rates: [exampleRate] }, answer: exampleSaved },
})

export const loadExchangeFile = endpoint({
  name: 'load-exchange-file',
  method: 'POST',
  path: '/api/exchange-rate-files',
  summary: 'Load exchange rates of the Canadian dollar from a file',
  description: `Reads a file with a column date and a column usd_per_cad, FXCADUSD, cad_per_usd or FXUSDCAD (the last two are Canadian per US dollar), such as a download of the Bank of Canada. ${fileForms} ${whatHappens}`,
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'admin' },
  ...datedFile,
  status: 200,
  answer: saved,
  problems: ['state-conflict'],
  examples: { body: 'date,usd_per_cad\n2026-03-02,0.7312\n', answer: exampleSaved },
})
