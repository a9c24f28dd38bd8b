/**
 * Who is calling, and with which credentials: tokens, sessions, signing secrets and event secrets become callers.
 */
export {
  type AnonymousCaller,
  type Callers,
  type CallerWatch,
  callers,
  type PersonCaller,
  type ServiceCaller,
  secretPlace,
  sessionCookie,
} from './callers.ts'
export { eventSecretPlace, issueEventSecret } from './event-secrets.ts'
export { issueServiceToken, issueSigningSecret } from './issue-credentials.ts'
export { keyCheckPlace, keyCheckText } from './key-check.ts'
