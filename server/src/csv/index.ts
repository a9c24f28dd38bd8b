/**
 * Column names of CSV files, and CSV output. Has no dependencies on the server, because the command line uses it, too.
 */
export { csvHead, csvLines, formula } from './csv-lines.ts'
export {
  ambiguousHeaders,
  fieldOfHeader,
  foldedHeader,
  guessedHeaders,
  type ImportFieldName,
  importFieldNames,
  importFields,
  statusLike,
} from './import-fields.ts'
