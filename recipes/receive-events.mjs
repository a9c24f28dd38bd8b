// Receives Lanewise events, verifies each with lanewise-client, and processes each once.
//   npm install ./lanewise-client-0.1.0.tgz
//   EVENT_SECRET=whsec_... PORT=9000 node receive-events.mjs
import { createServer } from 'node:http'
import { EventRejected, verifyEvent } from 'lanewise-client'

/** The ids of processed events. A real receiver saves these ids in its database, in the transaction of the event. */
const processed = new Set()

createServer(async (request, response) => {
  try {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    // Verify the body byte for byte as received. Parsing and serializing it again would change it.
    const { id, event } = await verifyEvent(Buffer.concat(chunks), request.headers, process.env.EVENT_SECRET)
    if (!processed.has(id)) {
      processed.add(id)
      const { lane } = event.data
      console.log(`${event.type} ${lane === undefined ? '' : `${lane.lane_ref} ${lane.outcome}`}`)
    }
    response.writeHead(204).end()
  } catch (error) {
    console.error(error.message)
    // After 500, the service sends the event again.
    response.writeHead(error instanceof EventRejected ? 401 : 500).end()
  }
}).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('waiting for events'))
