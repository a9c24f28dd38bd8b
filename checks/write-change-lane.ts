import { changeLaneSql } from './change-lane-sql.ts'

/** Prints the function `change_lane` for a new migration: `npm run change-lane`. */
process.stdout.write(changeLaneSql)
