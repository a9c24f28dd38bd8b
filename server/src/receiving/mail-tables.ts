import { receivedTableLengthMax } from '#contract/limits.ts'
import { knownNames } from '../csv/index.ts'
import type { MailAttachment } from '../database/schema/index.ts'
import { ImportFileError, openTable, tablePieces } from '../tables/index.ts'
import type { ParsedAttachment } from './parsed-mail.ts'

/** Attached files: the tables among them as text with tabs between cells, and why each other file was not read. */
export interface MailTables {
  readonly tables: readonly string[]
  readonly attachments: readonly MailAttachment[]
}

const cellText = (cell: string) => cell.replaceAll(/[\t\r\n\0]+/g, ' ').trim()

/** @throws ImportFileError if the file is no table */
async function textOfTable(content: Uint8Array): Promise<string> {
  const table = await openTable([content], { knownNames })
  let text = table.header.map(cellText).join('\t')
  for await (const { rows } of tablePieces(table)) {
    for (const { cells } of rows) {
      const line = cells.map(cellText).join('\t')
      if (text.length + line.length >= receivedTableLengthMax) return text
      text += `\n${line}`
    }
  }
  return text.toWellFormed().slice(0, receivedTableLengthMax)
}

/** Reads the tables among the files of a mail: CSV text and workbooks. A file that cannot be read is listed with the reason. */
export async function readTables(files: readonly ParsedAttachment[]): Promise<MailTables> {
  const tables: string[] = []
  const attachments: MailAttachment[] = []
  for (const { name, bytes, content } of files) {
    const listed = (unread: string | null) => attachments.push({ name, bytes, unread })
    if (content === null)
      listed(/^winmail\.dat$/i.test(name) ? 'Outlook packed its files into it.' : 'It is no table.')
    else if (content[0] === 0x1f && content[1] === 0x8b) listed('It is compressed.')
    else {
      try {
        tables.push(await textOfTable(content))
        listed(null)
      } catch (error) {
        if (!(error instanceof ImportFileError)) throw error
        listed(error.problems[0]?.detail ?? 'It cannot be read.')
      }
    }
  }
  return { tables, attachments }
}
