/**
 * Column names of CSV files, and CSV output. Has no dependencies on the server, because the command line uses it, too.
 */
export { csvHead, csvLines, formula } from './csv-lines.ts'
export { guessedHeaders, statusLike } from './guessed-columns.ts'
export {
  ambiguousHeaders,
  fieldOfHeader,
  foldedHeader,
  type ImportFieldName,
  importFieldNames,
  importFields,
} from './import-fields.ts'
