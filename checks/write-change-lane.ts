import { changeLaneSql } from './change-lane-sql.ts'

/** Prints the function `change_quote` for a new migration: `npm run change-quote`. */
process.stdout.write(changeLaneSql)
