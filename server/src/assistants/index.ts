/**
 * Assistants that people connect: the ids of their programs, codes and refresh tokens. Each is signed, and none is stored.
 */
export {
  type AssistantClient,
  clientHash,
  clientIdOf,
  clientOf,
  isLoopback,
  isOwnRedirect,
  registered,
} from './assistant-client.ts'
export { isVerifierOf, secretOf, secretTextOf } from './assistant-secrets.ts'
