// Takes events of Lanewise: verifies each with the public library of Standard Webhooks, and takes each once.
//   npm install standardwebhooks
//   EVENT_SECRET=whsec_... PORT=9000 node receive-events.mjs
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.EVENT_SECRET)
/** What was taken already. A real receiver keeps these ids in its database, with what it made of the event. */
const taken = new Set()

createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  let event
  try {
    // The body byte for byte as it came: parsed and written again it would be another one.
    event = webhook.verify(Buffer.concat(chunks).toString('utf8'), request.headers)
  } catch {
    response.writeHead(401).end()
    return
  }
  const id = request.headers['webhook-id']
  if (!taken.has(id)) {
    taken.add(id)
    const { lane } = event.data
    console.log(`${event.type} ${lane === undefined ? '' : `${lane.lane_ref} ${lane.outcome}`}`)
  }
  response.writeHead(204).end()
}).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('waiting for events'))
