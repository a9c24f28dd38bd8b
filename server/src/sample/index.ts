/**
 * The sample brokerage of a new installation: generated quotes over real cities.
 */
export { prepareSample, writeSample } from './insert-sample.ts'
export { giveSampleAccess, type SampleAccess } from './sample-access.ts'
export { seasonLift, vanCostByMiles } from './sample-market.ts'
export { type SeededRandom, seededRandom } from './seeded-random.ts'
