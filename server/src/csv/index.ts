/**
 * The names of columns in CSV files and the quoting of CSV lines. Pure: the command line uses it, too.
 */
export { csvHead, csvLines, formula } from './csv-lines.ts'
export {
  ambiguousHeaders,
  fieldOfHeader,
  foldedHeader,
  type ImportFieldName,
  importFieldNames,
  importFields,
} from './import-fields.ts'
