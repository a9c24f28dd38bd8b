import type { FastifyRequest } from 'fastify'
import type { Parts } from '../endpoints/index.ts'

/** The address of the service, as callers see it: the one that is set, or else that of the request. */
export function addressOf({ protocol, host }: FastifyRequest, { config }: Pick<Parts, 'config'>): string {
  return config.mail.publicUrl ?? `${protocol}://${host}`
}
