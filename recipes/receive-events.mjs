// Receives Lanewise events, verifies each with the Standard Webhooks library, and processes each once.
//   npm install standardwebhooks
//   EVENT_SECRET=whsec_... PORT=9000 node receive-events.mjs
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.EVENT_SECRET)
/** The ids of processed events. A real receiver stores these ids in its database, in the transaction of the event. */
const processed = new Set()

createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  let event
  try {
    // Verify the body byte for byte as received. Parsing and serializing it again would change it.
    event = webhook.verify(Buffer.concat(chunks).toString('utf8'), request.headers)
  } catch {
    response.writeHead(401).end()
    return
  }
  const id = request.headers['webhook-id']
  if (!processed.has(id)) {
    processed.add(id)
    const { lane } = event.data
    console.log(`${event.type} ${lane === undefined ? '' : `${lane.lane_ref} ${lane.outcome}`}`)
  }
  response.writeHead(204).end()
}).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('waiting for events'))
