import { UnstyledButton } from '@mantine/core'
import { dollars, equipmentName, laneName, loadWords } from '../shared-ui/index.ts'
import { convertedWords, fieldNames, laneOf, type PastedField, type PastedRow } from './desk-paste.ts'

const pastedFields = Object.keys(fieldNames) as PastedField[]

/** The most rows that are shown. All rows are read and added. */
const shownMax = 200

/**
 * The pasted cells as a table. What a column is can be chosen, each cell can be corrected in place, and a suggestion replaces the
 * cell of its place. The last column says how the row was read, or what is wrong with it.
 */
export function PasteTable({
  columns,
  rows,
  onField,
  onCell,
}: {
  columns: readonly { readonly name: string | null; readonly field: PastedField | null }[]
  rows: readonly PastedRow[]
  onField: (at: number, field: PastedField | null) => void
  onCell: (row: number, at: number, text: string) => void
}) {
  const cellsOf = ({ text }: PastedRow) => text.split('\t')
  return (
    <section className="table-frame desk-paste" aria-label="Pasted cells">
      <table>
        <thead>
          <tr>
            <th scope="col">Row</th>
            {columns.map(({ name, field }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
              <th key={at} scope="col">
                <span>{name ?? `Column ${at + 1}`}</span>
                <select
                  aria-label={`What ${name ?? `column ${at + 1}`} is`}
                  value={field ?? ''}
                  onChange={({ currentTarget: { value } }) =>
                    onField(at, pastedFields.find((one) => one === value) ?? null)
                  }
                >
                  <option value="">not used</option>
                  {pastedFields.map((one) => (
                    <option key={one} value={one}>
                      {fieldNames[one]}
                    </option>
                  ))}
                </select>
              </th>
            ))}
            <th scope="col">Read as</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shownMax).map((row, nth) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the number of a line changes when an empty line goes
            <tr key={nth}>
              <td data-align="right">{row.line}</td>
              {columns.map(({ name, field }, at) => {
                const text = cellsOf(row)[at] ?? ''
                return (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
                  <td key={at}>
                    <input
                      key={text}
                      aria-label={`Row ${row.line}, ${name ?? `column ${at + 1}`}`}
                      aria-invalid={row.errors.some((error) => error.field === field && field !== null)}
                      defaultValue={text}
                      onBlur={({ currentTarget: { value } }) => {
                        if (value !== text) onCell(nth, at, value)
                      }}
                      onKeyDown={({ key, currentTarget }) => {
                        if (key === 'Enter') currentTarget.blur()
                      }}
                    />
                  </td>
                )
              })}
              <td>
                <RowState
                  row={row}
                  onUse={(field, place) => {
                    const at = columns.findIndex((column) => column.field === field)
                    if (at >= 0) onCell(nth, at, place)
                  }}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** How a row was read, or its errors with their suggestions. */
function RowState({
  row,
  onUse,
}: {
  row: PastedRow
  onUse: (field: PastedField | null, place: string) => void
}) {
  const { errors, warnings, converted_by: how, origin, destination, rate } = row
  const load = loadWords(row)
  if (errors.length > 0) {
    return (
      <span className="desk-flag">
        {errors.map(({ field, detail, suggestions }) => (
          <span key={detail}>
            {detail}. {suggestions.length > 0 && 'Did you mean'}
            {suggestions.map((place) => (
              <UnstyledButton key={place} className="desk-suggestion" onClick={() => onUse(field, place)}>
                {place}
              </UnstyledButton>
            ))}
          </span>
        ))}
      </span>
    )
  }
  return (
    <span>
      {laneName(origin ?? '–', destination ?? '–')}, {equipmentName(laneOf(row).equipment)}
      {load === null ? '' : `, ${load}`}
      {rate === null ? '' : `, ${dollars(rate)}`}
      {row.pickup === null ? '' : `, pickup ${row.pickup}`}. {how === null ? '' : `${convertedWords[how]}. `}
      {warnings.length > 0 ? 'Check the rate.' : 'OK'}
    </span>
  )
}
