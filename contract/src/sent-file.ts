import Type from 'typebox'
import { datedFileBytesMax } from './limits.ts'

/** The parts of a request whose body is a file of a table in its own bytes. */

export const fileBody = Type.String({ description: 'The file, plain or gzip' })

/** The forms of a file, for the description of an endpoint that takes one. */
export const fileForms =
  'Send the bytes as they are: CSV text with any usual delimiter (UTF-8, UTF-16, Windows-1252, Macintosh or DOS), plain or gzip, with Content-Type: text/csv and without Content-Encoding, or an Excel workbook (.xlsx), with text/csv or its own type.'

export const sheet = Type.Optional(
  Type.String({
    description: 'The sheet of a workbook. Without it, the first visible sheet with a header',
    maxLength: 100,
    'x-expected': 'the name of a sheet, of at most 100 characters',
  }),
)

/** The settings of a file that `map` can choose, each with its description. */
const settings = {
  encoding:
    'encoding=macintosh (or windows-1252, cp850, cp437) states the encoding of text that is not UTF-8',
  hidden: 'hidden=skip leaves out the hidden rows and columns of a workbook',
  dates:
    'dates=day_first or dates=month_first states the order of day and month of dates such as 3/1/2026, if the file does not show it; without it, the setting date_order of the brokerage decides',
} as const

/** The map of a file whose columns are known by their names only: settings in pairs. */
export function settingsMap(names: readonly (keyof typeof settings)[]) {
  return Type.Optional(
    Type.String({
      description: `Settings in pairs, comma separated: ${names.map((name) => settings[name]).join('. ')}`,
      maxLength: 4000,
      'x-expected': 'pairs separated by commas',
    }),
  )
}

/** What an endpoint declares that takes a file with one value for each day or week. */
export const datedFile = {
  query: Type.Object({ map: settingsMap(['encoding', 'hidden']), sheet }),
  body: fileBody,
  bodyKind: 'csv',
  bodyBytesMax: datedFileBytesMax,
} as const
