import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type RequestDeadline, withDeadline } from '../database/session/index.ts'
import type { CsvFile } from '../endpoints/index.ts'

/**
 * Streams a CSV file as fast as the caller reads. The first piece is made before the answer begins, within the request's
 * deadline, so that a failure of the database is answered with an error status. `onBegin` then
 * records the export; if it fails, the file is not sent. A later failure is reported to `onCut`
 * and closes the connection before the end of the body, so that the caller sees an incomplete file.
 */
export async function sendCsv(
  file: CsvFile,
  request: FastifyRequest,
  reply: FastifyReply,
  { onBegin, onCut }: { readonly onBegin: () => Promise<void>; readonly onCut: (error: unknown) => void },
  deadline: RequestDeadline,
): Promise<FastifyReply> {
  const first = await withDeadline(deadline, async () => {
    const piece = await file.text.next()
    if (request.method === 'HEAD') return piece
    try {
      await onBegin()
    } catch (error) {
      await file.text.return()
      throw error
    }
    return piece
  })
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
    // The request's deadline does not apply to the rest, which is made as fast as the caller reads.
    yield* rest
  } catch (error) {
    onCut(error)
    throw error
  } finally {
    await rest.return()
  }
}
