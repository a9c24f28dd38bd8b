/** The same tests with all values in every field. They read how many to try when they are loaded. */
process.env.EVERY_VALUE = 'yes'
await import('./hostile-fields.test.ts')
