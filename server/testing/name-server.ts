import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

/** A DNS server on the loopback. */
export interface NameServer {
  /** Its address with the port. */
  readonly address: string
  /** The addresses of each name. A question for a name without any is not answered. */
  readonly addresses: Map<string, readonly string[]>
  /** The questions so far: a name, and `A` or `AAAA`. */
  readonly questions: string[]
  close(): void
}

const headerBytes = 12
const types: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' }

/** The name and the type of a question, and where it ends. */
function questionOf(message: Buffer) {
  const labels: string[] = []
  let at = headerBytes
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: types[message.readUInt16BE(at + 1)], end: at + 5 }
}

/** The bytes of an address. An IPv6 address is written with all its eight groups. */
function bytesOf(address: string): Buffer {
  return isIPv4(address)
    ? Buffer.from(address.split('.').map(Number))
    : Buffer.from(
        address
          .split(':')
          .map((group) => group.padStart(4, '0'))
          .join(''),
        'hex',
      )
}

function answerTo(question: Buffer, end: number, addresses: readonly string[]): Buffer {
  const header = Buffer.from(question.subarray(0, headerBytes))
  header.writeUInt16BE(0x8180, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(addresses.length, 6)
  header.writeUInt32BE(0, 8)
  const records = addresses.map((address) => {
    const bytes = bytesOf(address)
    const record = Buffer.alloc(headerBytes)
    // The name is the one of the question.
    record.writeUInt16BE(0xc000 | headerBytes, 0)
    record.writeUInt16BE(isIPv4(address) ? 1 : 28, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt32BE(86_400, 6)
    record.writeUInt16BE(bytes.length, 10)
    return Buffer.concat([record, bytes])
  })
  return Buffer.concat([header, question.subarray(headerBytes, end), ...records])
}

/** Starts a DNS server on a port of its own. Its answers may be kept for a day. */
export async function nameServer(): Promise<NameServer> {
  const socket = createSocket('udp4')
  const addresses: NameServer['addresses'] = new Map()
  const questions: string[] = []
  socket.on('message', (message, { address, port }) => {
    const { name, type, end } = questionOf(message)
    questions.push(`${name} ${type}`)
    const found = addresses.get(name)
    if (found === undefined) return
    const ofType = found.filter((one) => isIPv4(one) === (type === 'A'))
    socket.send(answerTo(message, end, ofType), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    addresses,
    questions,
    close: () => void socket.close(),
  }
}
