import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../configuration/index.ts'

/** The service's log: one line of JSON an event, each with a time and a level by its name. */
export function serviceLog(level: Config['logLevel'], destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: loggedError },
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}

/**
 * What the log keeps of an error, under `err`: its words, its stack, its cause. No other member: the details of a
 * database's error repeat the row that it refused, which is a customer's.
 */
function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error === undefined ? undefined : String(error)
  return {
    message: error.message,
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: loggedError(error.cause) }),
  }
}
