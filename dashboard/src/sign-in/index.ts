/** Sign-in, sign-up and accepting an invitation. */

export { default as InvitationPage } from './invitation.tsx'
export { default as SignInPage } from './sign-in.tsx'
export { default as SignUpPage } from './sign-up.tsx'
