/**
 * Authentication: identifies callers by tokens, sessions, and signing secrets, and issues credentials.
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
