/**
 * The sample brokerage of a new installation: generated quotes over real cities.
 */
export { type SampleAccess, sampleMaker } from './insert-sample.ts'
export { seasonLift, vanCostByMiles } from './sample-market.ts'
export { type SeededRandom, seededRandom } from './seeded-random.ts'
