import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../configuration/index.ts'

/** How often the stack of one error is logged. An outage makes thousands of equal errors in a second. */
const stackEveryMs = 10_000
/** Upper bound on the messages whose last stack is remembered, and on the letters that are logged of a message. */
const rememberedMax = 200
const messageLettersMax = 120

/**
 * The service's log: one line of JSON per event, with the time and the name of the level. An error has its stack once in ten
 * seconds, and otherwise only its message, so that a line of a failed request is shorter than 500 bytes.
 */
export function serviceLog(
  level: Config['logLevel'],
  destination?: DestinationStream,
  clock: () => number = () => performance.now(),
): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorSerializer(clock) },
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}

/**
 * The logged form of an error, under `err`: message, stack and cause. Other members are dropped, because a database
 * error repeats the rejected row, which is customer data.
 */
function errorSerializer(clock: () => number): (error: unknown) => unknown {
  const stackLoggedAt = new Map<string, number>()
  const isDue = (error: Error) => {
    const key = messagesOf(error)
    const last = stackLoggedAt.get(key)
    if (last !== undefined && clock() - last < stackEveryMs) return false
    stackLoggedAt.delete(key)
    stackLoggedAt.set(key, clock())
    for (const oldest of stackLoggedAt.keys()) {
      if (stackLoggedAt.size <= rememberedMax) break
      stackLoggedAt.delete(oldest)
    }
    return true
  }
  return (error) => {
    if (!(error instanceof Error)) return error === undefined ? undefined : String(error)
    return loggedError(error, isDue(error))
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
