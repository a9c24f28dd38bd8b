import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../configuration/index.ts'

/** How often the stack of an error is logged. An outage makes many equal errors in a second. */
const stackEveryMs = 10_000
/** The most errors whose last stack is remembered, and the letters of a message by which they are told apart. */
const rememberedMax = 200
const messageLettersMax = 120
/** In a line without a stack: the most bytes of all messages of an error and its causes, and the most causes. */
const messageBytesMax = 180
const causesMax = 2

/**
 * The service's log: one line of JSON per event, with the time and the name of the level. An error has its stack once in ten
 * seconds, and otherwise only its messages, so that the line of a failed request is shorter than 500 bytes.
 *
 * @param monotonic a clock in milliseconds
 */
export function serviceLog(
  level: Config['logLevel'],
  destination?: DestinationStream,
  monotonic: () => number = () => performance.now(),
): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorSerializer(monotonic) },
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}

/**
 * The logged form of an error, under `err`: message, stack and cause. Other members are dropped, because a database
 * error repeats the rejected row, which is customer data.
 */
function errorSerializer(monotonic: () => number): (error: unknown) => unknown {
  const stackLoggedAt = new Map<string, number>()
  const isStackDue = (error: Error) => {
    const messages = messagesOf(error)
    const last = stackLoggedAt.get(messages)
    if (last !== undefined && monotonic() - last < stackEveryMs) return false
    stackLoggedAt.delete(messages)
    stackLoggedAt.set(messages, monotonic())
    if (stackLoggedAt.size > rememberedMax) stackLoggedAt.delete(stackLoggedAt.keys().next().value ?? '')
    return true
  }
  return (error) => {
    if (error === undefined) return undefined
    if (!(error instanceof Error)) return cutToBytes(String(error), messageBytesMax)
    return isStackDue(error) ? withStack(error) : withoutStack(error, messageBytesMax, causesMax)
  }
}

function messagesOf({ message, cause }: Error): string {
  const text = message.slice(0, messageLettersMax)
  return cause instanceof Error ? `${text}\n${messagesOf(cause)}` : text
}

function withStack(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { message, stack, cause } = error
  return { message, stack, ...(cause === undefined ? {} : { cause: withStack(cause) }) }
}

/** The messages of an error and its causes, in so many bytes. */
function withoutStack(error: unknown, bytes: number, causes: number): unknown {
  const message = cutToBytes(error instanceof Error ? error.message : String(error), bytes)
  const left = bytes - bytesInJson(message)
  const cause = error instanceof Error ? error.cause : undefined
  return {
    message,
    ...(cause === undefined || causes === 0 || left <= 0
      ? {}
      : { cause: withoutStack(cause, left, causes - 1) }),
  }
}

const bytesInJson = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2

/**
 * The beginning of a text that needs at most so many bytes in JSON, where a letter needs up to six.
 *
 * @example cutToBytes('É'.repeat(9), 4) // 'ÉÉ'
 */
export function cutToBytes(text: string, bytes: number): string {
  let cut = text.slice(0, bytes)
  while (bytesInJson(cut) > bytes) cut = cut.slice(0, -Math.ceil((bytesInJson(cut) - bytes) / 6))
  return cut
}
