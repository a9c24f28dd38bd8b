import { changeQuoteSql } from './change-quote-sql.ts'

/** Prints the function `change_quote` for a new migration: `npm run change-quote`. */
process.stdout.write(changeQuoteSql)
