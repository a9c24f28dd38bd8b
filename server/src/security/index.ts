/**
 * Cryptography and protection against abuse: passwords, tokens, sealed secrets, rate limits, and addresses.
 * Secrets and the time are parameters.
 */
export { callerNetwork } from './caller-network.ts'
export { networkHash } from './network-hash.ts'
export {
  type AllowedPrivate,
  allowedPrivate,
  isHost,
  isNameOrNetwork,
  mayReach,
  type OutboundTarget,
  outboundTarget,
} from './outbound-address.ts'
export { hashPassword, isGuessable, isPassword, passwordHashWork } from './password.ts'
export {
  type Admission,
  eventTestLimit,
  type RateLimit,
  signatureCheckLimit,
  slidingWindow,
  tenantLimit,
} from './rate-limit.ts'
export {
  derivedKey,
  keyName,
  type SecretKey,
  type SecretKeys,
  seal,
  secretKey,
  secretKeys,
  unseal,
  unsealWithAny,
  weakness,
} from './sealed-secret.ts'
export { type SignInAttempt, type SignInAttempts, signInAttempts } from './sign-in-attempts.ts'
export { signUpLimit } from './sign-up-limit.ts'
export { newSigningSecret } from './signing-secret.ts'
export { bearerToken, invalidToken, type TokenClaims, type Tokens, tokens } from './token.ts'
export { areTooMany, isNetwork, isTooWide, isWide, trustedProxies } from './trusted-proxies.ts'
export { newWebhookSecret, webhookSignature } from './webhook-signature.ts'
