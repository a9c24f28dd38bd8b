import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../configuration/index.ts'

/** The service's log: one line of JSON per event, with the time and the name of the level. */
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
 * The logged form of an error, under `err`: message, stack and cause. Other members are dropped, because a database
 * error repeats the rejected row, which is customer data.
 */
function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error === undefined ? undefined : String(error)
  return {
    message: error.message,
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: loggedError(error.cause) }),
  }
}
