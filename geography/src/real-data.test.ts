import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { roadMiles } from '#engine/miles.ts'
import { readPlace } from '#engine/place.ts'
import { locate } from '#geography/locate.ts'

const folder = process.env.LANEWISE_REAL_DATA ?? '../shared/data'
const file = `${folder}/loadsmart_truckloads_2017.csv.gz`
const found = existsSync(file)

/** The placeholder for an unknown mileage in the file. */
const placeholderMiles = 140

interface Load {
  readonly origin: string
  readonly destination: string
  readonly miles: number
}

/** Splits lines at commas, because the file has no quoted fields. */
function readLoads(): Load[] {
  const [header = '', ...lines] = gunzipSync(readFileSync(file)).toString('utf8').trim().split('\n')
  const columns = header.trim().split(',')
  return lines.map((line) => {
    const fields = line.split(',')
    const of = (name: string) => fields[columns.indexOf(name)] ?? ''
    return {
      origin: `${of('origin_city')}, ${of('origin_state')}`,
      destination: `${of('dest_city')}, ${of('dest_state')}`,
      miles: Number(of('mileage')),
    }
  })
}

function at(text: string) {
  const place = readPlace(text)
  return place && locate(place)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

describe.skipIf(!found)(`real truckloads${found ? '' : ' (skipped: no LANEWISE_REAL_DATA folder)'}`, () => {
  const loads = found ? readLoads() : []

  test('97 % of their places are located', () => {
    const places = new Set(loads.flatMap((load) => [load.origin, load.destination]))
    const located = [...places].filter((place) => at(place) !== null)
    expect(located.length / places.size).toBeGreaterThanOrEqual(0.97)
  })

  test('50 % of their lanes are within 5 % of the driven miles, and 79 % are within 10 %', () => {
    const driven = loads.filter((load) => load.miles >= 5 && load.miles !== placeholderMiles)
    const errors = [
      ...Map.groupBy(driven, (load) => `${load.origin} > ${load.destination}`).values(),
    ].flatMap((lane) => {
      const [a, b] = [at(lane[0]?.origin ?? ''), at(lane[0]?.destination ?? '')]
      return a && b ? [Math.abs(roadMiles(a, b) / median(lane.map((load) => load.miles)) - 1)] : []
    })
    expect(median(errors)).toBeLessThanOrEqual(0.05)
    expect(errors.filter((error) => error <= 0.1).length / errors.length).toBeGreaterThanOrEqual(0.79)
  })
})
