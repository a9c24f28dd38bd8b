import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type RequestDeadline, withDeadline } from '../database/session/index.ts'
import type { CsvFile } from '../endpoints/index.ts'

/**
 * Sends a CSV file piece by piece, as fast as the caller reads. The first piece is made before the answer begins, so that
 * a database that cannot answer is refused as ever, within the patience of whoever asked. A failure later on is told to `onCut` and ends the connection
 * without the end of the body: nobody can take a cut file for a whole one.
 */
export async function sendCsv(
  file: CsvFile,
  request: FastifyRequest,
  reply: FastifyReply,
  onCut: (error: unknown) => void,
  patience: RequestDeadline,
): Promise<FastifyReply> {
  const first = await withDeadline(patience, () => file.text.next())
  reply
    .code(200)
    .type('text/csv; charset=utf-8')
    .header('Content-Disposition', `attachment; filename="${file.fileName}"`)
  if (request.method === 'HEAD') {
    await file.text.return()
    return reply.send(Readable.from([]))
  }
  return reply.send(Readable.from(wholeText(first, file.text, onCut)))
}

async function* wholeText(
  first: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void>,
  onCut: (error: unknown) => void,
): AsyncGenerator<string, void> {
  try {
    if (first.done !== true) yield first.value
    // The rest comes as fast as it is read: nobody's patience is for a whole file.
    yield* rest
  } catch (error) {
    onCut(error)
    throw error
  } finally {
    await rest.return()
  }
}
