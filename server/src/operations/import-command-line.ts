import { parseArgs } from 'node:util'
import { importFieldNames, importFields } from '../csv/index.ts'

/** A parsed command line. */
export type ImportCommand =
  | { readonly kind: 'help' }
  | { readonly kind: 'list'; readonly tenant: string | undefined }
  | { readonly kind: 'undo'; readonly tenant: string | undefined; readonly importId: number }
  | {
      readonly kind: 'import'
      readonly tenant: string | undefined
      readonly file: string
      readonly map: string | undefined
      readonly sheet: string | undefined
      readonly dryRun: boolean
      readonly errorsFile: string | undefined
    }

/** The command line is invalid. The message says what is expected. */
export class UsageError extends Error {}

/**
 * Parses the arguments after `npm run import --`.
 *
 * @throws UsageError
 * @example readCommandLine(['loads.csv', '--dry-run']) // { kind: 'import', file: 'loads.csv', dryRun: true, ... }
 */
export function readCommandLine(words: readonly string[]): ImportCommand {
  const { values, positionals } = parsed(words)
  const { tenant } = values
  if (values.help === true) return { kind: 'help' }
  const asked = [values.list === true, values.undo !== undefined, positionals.length > 0].filter(
    Boolean,
  ).length
  if (asked > 1 || positionals.length > 1) {
    throw new UsageError('Give either one FILE, or --undo ID, or --list.')
  }
  if (values.list === true) return { kind: 'list', tenant }
  if (values.undo !== undefined) {
    if (!/^[1-9]\d{0,8}$/.test(values.undo)) {
      throw new UsageError(`--undo must be the number of an import; it is "${values.undo}". See --list.`)
    }
    return { kind: 'undo', tenant, importId: Number(values.undo) }
  }
  const [file] = positionals
  if (file === undefined) throw new UsageError('Name the file to import.')
  return {
    kind: 'import',
    tenant,
    file,
    map: values.map?.join(','),
    sheet: values.sheet,
    dryRun: values['dry-run'] === true,
    errorsFile: values.errors,
  }
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        map: { type: 'string', multiple: true },
        sheet: { type: 'string' },
        'dry-run': { type: 'boolean' },
        tenant: { type: 'string' },
        undo: { type: 'string' },
        list: { type: 'boolean' },
        errors: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

export const usage = `Import past quotes and bookings from a file.

  npm run import -- FILE [--dry-run] [--map FIELD=COLUMN,...] [--sheet NAME] [--tenant NAME]
                    [--errors FILE]
  npm run import -- --list [--tenant NAME]
  npm run import -- --undo ID [--tenant NAME]

  FILE             CSV text in any usual encoding and with any usual delimiter, or an Excel workbook (.xlsx); also
                   packed with gzip.
  --dry-run        check the file and save nothing
  --map            the columns of fields, where their names are not recognized: --map "quoted_rate=Our Price,origin=From"
                   FIELD= without a column ignores a field. Settings such as dates=day_first are pairs, too
  --sheet          the sheet of a workbook; the first one with a header if absent
  --tenant         the brokerage, by name or number; optional while there is one
  --errors FILE    write every refused row there, as CSV
  --undo ID        undo an import: remove the quotes it added, restore those it changed, and keep later changes
  --list           list the imports

Valid rows are imported; an invalid row is rejected whole. A row whose reference or lane_ref is known updates its quote, but not a
value that the TMS signed, or an outcome that a person set. The same row again changes nothing: after Ctrl-C, or with the bad
rows corrected, import the same file again. One import or undo of a brokerage runs at a time. After Ctrl-C, an undo is resumed
by the running service, or by the same command. How the file was read is printed with other
choices: times without a zone are in that of the brokerage, and the dates of a column, the map or the brokerage decide whether
3/4/2026 is March 4.

Exit code: 0 imported (refused rows are listed), 1 failed or every row refused, 2 wrong usage, 130 stopped by Ctrl-C.

Fields:
${importFieldNames.map((name) => `  ${name.padEnd(23)}${importFields[name].description}`).join('\n')}
`
