/**
 * Sign-in through the identity provider of a brokerage's company, with OpenID Connect: asks the provider, checks what it answers,
 * ties a sign-in to its browser, and proves domains. It stores nothing.
 */
export { checkDomain, domainOf, newChallenge, recordName } from './domain-proof.ts'
export type { CompanyPerson } from './id-token.ts'
export { type CompanyProviders, companyProviders } from './providers.ts'
export { CompanyRefusal, type Refusal, refusalWords } from './refusals.ts'
export { openProvider, type Provider, sealProvider } from './sealed-provider.ts'
export {
  browserOf,
  companyCookieOf,
  newSignInState,
  readSignInState,
  type SignInState,
} from './sign-in-state.ts'
