import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** A DNS server that knows TXT records only. */
export interface NameServer {
  /** Its address with the port, for the setting NAME_SERVERS. */
  readonly address: string
  /** The texts of TXT records by name. */
  readonly texts: Map<string, string[]>
  /** If set, questions are not answered. */
  isSilent: boolean
  close(): void
}

const headerBytes = 12
const typeTxt = 16
const noSuchName = 3

/** The name of the first question, and where the question ends. */
function questionOf(message: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = headerBytes
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  // The end of the name, the type and the class.
  return { name: labels.join('.').toLowerCase(), end: at + 5 }
}

function answerTo(question: Buffer, texts: ReadonlyMap<string, readonly string[]>): Buffer {
  const { name, end } = questionOf(question)
  const found = texts.get(name) ?? []
  const header = Buffer.from(question.subarray(0, headerBytes))
  header.writeUInt16BE(0x8180 | (found.length === 0 ? noSuchName : 0), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(found.length, 6)
  header.writeUInt32BE(0, 8)
  const answers = found.map((text) => {
    const bytes = Buffer.from(text)
    const record = Buffer.alloc(13)
    // The name is the one at the begin of the question.
    record.writeUInt16BE(0xc000 | headerBytes, 0)
    record.writeUInt16BE(typeTxt, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt32BE(60, 6)
    record.writeUInt16BE(bytes.length + 1, 10)
    record.writeUInt8(bytes.length, 12)
    return Buffer.concat([record, bytes])
  })
  return Buffer.concat([header, question.subarray(headerBytes, end), ...answers])
}

/** Starts a DNS server on a port of its own. */
export async function nameServer(): Promise<NameServer> {
  const socket = createSocket('udp4')
  const server: NameServer = {
    address: '',
    texts: new Map(),
    isSilent: false,
    close: () => socket.close(),
  }
  socket.on('message', (question, { address, port }) => {
    if (!server.isSilent) socket.send(answerTo(question, server.texts), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return Object.assign(server, { address: `127.0.0.1:${socket.address().port}` })
}
