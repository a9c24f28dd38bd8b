import * as contract from '#contract/sign-in.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { changePassword } from './change-password.ts'
import { acceptInvitation, readInvitation } from './invitations.ts'
import { changeMe, readMe, sessionToken, signOut } from './sessions.ts'
import { signIn } from './sign-in-with-password.ts'
import { signUp } from './sign-up.ts'

export const signInEndpoints: ServedEndpoint[] = [
  serve(contract.signUp, signUp),
  serve(contract.signIn, signIn),
  serve(contract.readInvitation, readInvitation),
  serve(contract.acceptInvitation, acceptInvitation),
  serve(contract.signOut, signOut),
  serve(contract.sessionToken, sessionToken),
  serve(contract.changePassword, changePassword),
  serve(contract.me, readMe),
  serve(contract.changeMe, changeMe),
]
