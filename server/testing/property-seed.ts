import fc from 'fast-check'

/**
 * Vitest's setup file: property tests try the same values each time, so that a commit is green or not. `PROPERTY_SEED=random` lets
 * them try other values each time, and fast-check prints the seed of those that fail.
 */
if (process.env.PROPERTY_SEED !== 'random') fc.configureGlobal({ seed: 20_261_128 })
