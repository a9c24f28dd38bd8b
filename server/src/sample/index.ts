/**
 * The sample brokerage that a new installation shows: generated quotes over real cities.
 */
export { type SampleAccess, sampleMaker } from './insert-sample.ts'
export { seasonLift, vanCostByMiles } from './sample-market.ts'
export { type SeededRandom, seededRandom } from './seeded-random.ts'
