import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { day, dollars, loadedMiles, nullable, oneOf, text } from './fields.ts'
import { dieselWeeksShown, fuelBytesMax, fuelPeriodsMax, fuelStepsMax } from './limits.ts'
import { datedFile, fileForms } from './sent-file.ts'

/** An amount of dollars with up to three decimals, as diesel and surcharges per mile are priced. */
function mills(description: string, minimum: number, maximum: number) {
  return Type.Refine(
    Type.Number({
      description,
      minimum,
      maximum,
      'x-multiple-of': 0.001,
      'x-expected': `a number of dollars from ${minimum} to ${maximum} with at most three decimals`,
    }),
    (value) => Math.round(value * 1000) / 1000 === value,
    () => 'mills',
  )
}

/** A diesel price in dollars per gallon. The bounds refuse cents, and prices per barrel. */
const perGallon = (description: string) => mills(description, 0.5, 20)

const milesPerGallon = Type.Number({
  description:
    'Miles per gallon, with base_price: the surcharge per mile is (diesel price - base price) / it',
  minimum: 1,
  maximum: 30,
  'x-expected': 'a number of miles per gallon from 1 to 30',
})
export const FuelStep = Type.Object({
  diesel_price: perGallon('The diesel price from which the step applies, in dollars per gallon'),
  per_mile: mills('The surcharge in dollars per mile', 0, 10),
})
const steps = Type.Array(FuelStep, {
  minItems: 1,
  maxItems: fuelStepsMax,
  description:
    'Instead of base_price and miles_per_gallon: the surcharge of the last step whose price is reached, and 0 below the first',
  'x-expected': `a list of 1 to ${fuelStepsMax} steps`,
})
const until = day('The last day of the period. Without it, the period has no end')
const basePrice = perGallon('The diesel price above which there is a surcharge, in dollars per gallon')

const SentFuelPeriod = Type.Object({
  from: day('The first day of the period'),
  until: Type.Optional(until),
  base_price: Type.Optional(basePrice),
  miles_per_gallon: Type.Optional(milesPerGallon),
  steps: Type.Optional(steps),
})
export type SentFuelPeriod = Type.Static<typeof SentFuelPeriod>

const FuelSchedule = Type.Object({
  customer_name: nullable(text('The customer that the schedule is for; null for the brokerage')),
  periods: Type.Array(
    Type.Object({
      from: day('The first day of the period'),
      in_force: Type.Boolean({ description: 'Whether the period covers today, in UTC' }),
      until: nullable(until),
      base_price: nullable(basePrice),
      miles_per_gallon: nullable(milesPerGallon),
      steps: nullable(steps),
    }),
  ),
})
export const DieselWeek = Type.Object({
  week: day('The Monday of the survey'),
  price: perGallon('Dollars per gallon'),
})
const Fuel = Type.Object({
  diesel: nullable(DieselWeek),
  newest_weeks: Type.Array(DieselWeek, {
    description: `The newest prices up to today, newest first, at most ${dieselWeeksShown}`,
  }),
  schedules: Type.Array(FuelSchedule),
})

const exampleFuel = {
  diesel: { week: '2026-03-02', price: 3.879 },
  newest_weeks: [
    { week: '2026-03-02', price: 3.879 },
    { week: '2026-02-23', price: 3.845 },
  ],
  schedules: [
    {
      customer_name: null,
      periods: [
        {
          from: '2026-01-01',
          in_force: true,
          until: null,
          base_price: 1.2,
          miles_per_gallon: 6,
          steps: null,
        },
      ],
    },
  ],
}

export const getFuel = endpoint({
  name: 'get-fuel',
  method: 'GET',
  path: '/api/fuel',
  summary: 'The newest diesel prices and the fuel surcharge schedules',
  description: 'The schedule of the brokerage, then those of customers by name.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: Fuel,
  examples: { answer: exampleFuel },
})

export const changeFuelSchedule = endpoint({
  name: 'change-fuel-schedule',
  method: 'PATCH',
  path: '/api/fuel/schedule',
  summary: 'Change a fuel surcharge schedule',
  description:
    'Replaces the schedule of the brokerage, or with customer_name that of a customer. On the days that it covers, the schedule of a customer applies instead of that of the brokerage. Each period has either base_price and miles_per_gallon, or steps. Periods must follow each other without a gap or an overlap. An empty list removes the schedule.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'admin' },
  bodyBytesMax: fuelBytesMax,
  body: Type.Object({
    customer_name: Type.Optional(text('The customer that the schedule is for. Absent for the brokerage')),
    periods: Type.Array(SentFuelPeriod, {
      maxItems: fuelPeriodsMax,
      'x-expected': `a list of at most ${fuelPeriodsMax} periods`,
    }),
  }),
  status: 200,
  answer: Fuel,
  examples: {
    body: { periods: [{ from: '2026-01-01', base_price: 1.2, miles_per_gallon: 6 }] },
    answer: exampleFuel,
  },
})

export const loadDieselPrices = endpoint({
  name: 'load-diesel-prices',
  method: 'POST',
  path: '/api/fuel/diesel-prices',
  summary: 'Load weekly diesel prices from a file of the EIA',
  description: `Reads the U.S. average retail price of No. 2 diesel (series EMD_EPD2D_PTE_NUS_DPG) in each form in which the EIA publishes it: an answer of its API or its rows as CSV, the sheet "Data 1" of its Excel file saved as .xlsx or CSV, or the download of the series page. ${fileForms} Weeks that are saved get the price of the file; other saved weeks do not change. A file with an unreadable week or price changes nothing.`,
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'admin' },
  ...datedFile,
  status: 200,
  answer: Type.Object({
    weeks: Type.Integer({ description: 'Weeks with a price in the file', minimum: 1 }),
    changed: Type.Integer({ description: 'Weeks that are new, or had another price', minimum: 0 }),
    first: DieselWeek,
    last: DieselWeek,
  }),
  problems: ['state-conflict'],
  examples: {
    body: 'period,series,value\n2026-03-02,EMD_EPD2D_PTE_NUS_DPG,3.879\n',
    answer: {
      weeks: 1,
      changed: 1,
      first: { week: '2026-03-02', price: 3.879 },
      last: { week: '2026-03-02', price: 3.879 },
    },
  },
})

export const getFuelSurcharge = endpoint({
  name: 'get-fuel-surcharge',
  method: 'GET',
  path: '/api/fuel/surcharge',
  summary: 'The fuel surcharge of a load on a day',
  description:
    'The surcharge by the schedule in force on the day and the newest diesel price published by then, at most 14 days old. Without a schedule or a price, found is false and missing names which.',
  tag: 'Quotes',
  who: { kind: 'dashboard', role: 'viewer' },
  query: Type.Object({
    day: day('The day of the load'),
    miles: loadedMiles('Loaded miles'),
    customer_name: Type.Optional(text('The customer, if its schedule should apply')),
  }),
  status: 200,
  answer: Type.Object({
    found: Type.Boolean(),
    surcharge: nullable(dollars('The surcharge of the load')),
    per_mile: nullable(
      Type.Number({ description: 'Dollars per mile, rounded to three decimals for display' }),
    ),
    diesel: nullable(DieselWeek),
    schedule: nullable(oneOf('Whose schedule applied', ['brokerage', 'customer'])),
    missing: nullable(oneOf('What is not known for the day', ['schedule', 'diesel_price'])),
  }),
  examples: {
    query: { day: '2026-03-05', miles: 780 },
    answer: {
      found: true,
      surcharge: 348.27,
      per_mile: 0.447,
      diesel: { week: '2026-03-02', price: 3.879 },
      schedule: 'brokerage',
      missing: null,
    },
  },
})
