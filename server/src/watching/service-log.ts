import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../configuration/index.ts'

/** How often the stack of an error is logged. An outage makes many equal errors in a second. */
const stackEveryMs = 10_000
/** The most errors whose last stack is remembered, and the most letters of a message in a line without a stack. */
const rememberedMax = 200
const messageLettersMax = 120

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
    if (!(error instanceof Error)) return error === undefined ? undefined : String(error)
    return loggedError(error, isStackDue(error))
  }
}

function messagesOf({ message, cause }: Error): string {
  const text = message.slice(0, messageLettersMax)
  return cause instanceof Error ? `${text}\n${messagesOf(cause)}` : text
}

function loggedError(error: unknown, withStack: boolean): unknown {
  if (!(error instanceof Error)) return String(error)
  return {
    message: withStack ? error.message : error.message.slice(0, messageLettersMax),
    ...(withStack ? { stack: error.stack } : {}),
    ...(error.cause === undefined ? {} : { cause: loggedError(error.cause, withStack) }),
  }
}
