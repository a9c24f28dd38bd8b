import fc from 'fast-check'

/**
 * Vitest's setup file. In CI, property tests try the same values each time, so that a commit is green or not. Elsewhere, they try other
 * values each time, and print the seed of those that fail.
 */
if (process.env.CI !== undefined) fc.configureGlobal({ seed: 20_261_127 })
