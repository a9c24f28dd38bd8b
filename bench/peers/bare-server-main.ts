import { createServer } from 'node:http'

/** The bare server: node:http that returns a constant text of the size of a real response. */
const answer = Buffer.from(process.env.BENCH_ANSWER ?? '{}')
const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': answer.length }
createServer((_request, response) => {
  response.writeHead(200, headers)
  response.end(answer)
}).listen(Number(process.env.PORT), '127.0.0.1', () => process.stdout.write('ready\n'))
