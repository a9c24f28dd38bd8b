/** Why a sign-in through a company's provider is refused, in the words that people read. */
export const refusalWords = {
  'not-this-browser':
    'This sign-in was not started in this browser, or too long ago, or it was used already. Start again.',
  'settings-changed': 'The company sign-in was changed meanwhile. Start again.',
  unreachable: "Your company's identity provider does not answer.",
  nonsense: "Your company's identity provider sent an answer that is not OpenID Connect.",
  'provider-refused': "Your company's identity provider refused the sign-in.",
  'code-refused':
    'The identity provider does not accept the code of this sign-in, or the client id and secret. Start again; if it happens again, an admin has to check the secret.',
  'another-provider': 'The answer came from another identity provider than the one that was asked.',
  'wrong-issuer': 'The answer names another issuer than the one of this brokerage.',
  'wrong-audience': 'The answer was made for another application.',
  'wrong-nonce': 'The answer belongs to another sign-in.',
  'wrong-algorithm': 'The answer is not signed with a key pair of the identity provider.',
  'wrong-signature': 'The answer is not signed with a current key of the identity provider.',
  'clocks-differ':
    'The answer has expired, or was made in the future: the clock of the identity provider and that of this service differ by more than two minutes.',
  'no-email': 'The identity provider did not send an e-mail address.',
  'email-not-verified': 'The identity provider did not confirm that the e-mail address is yours.',
  'domain-not-proven': 'The e-mail address is of a domain that the brokerage has not proven.',
  'no-groups':
    'You are in too many groups: the identity provider left them out, and they decide your role. An admin has to send only the groups that are assigned to Lanewise.',
  'no-role': 'None of your groups has a role in this brokerage.',
  'no-account': 'You have no account in this brokerage. Ask an admin for an invitation.',
  'not-active': 'Your account in this brokerage is suspended, or was removed.',
  'owner-not-set':
    'Owners sign in through the company only if an owner has set the identity provider. Use your password.',
  'another-account':
    'Your account in this brokerage belongs to another account of the identity provider. Ask an admin.',
} as const

export type Refusal = keyof typeof refusalWords

/** A sign-in that is refused. It repeats nothing that the provider sent. */
export class CompanyRefusal extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusalWords[refusal])
    this.name = 'CompanyRefusal'
    this.refusal = refusal
  }
}
