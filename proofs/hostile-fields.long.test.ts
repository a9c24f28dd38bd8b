/** Runs hostile-fields.test.ts with all values in every field. The variable must be set before the import. */
process.env.EVERY_VALUE = 'yes'
await import('./hostile-fields.test.ts')
