/** Sign-in, also through a company, sign-up, accepting an invitation, and the consent for an assistant. */

export { default as CompanyReturnPage } from './company.tsx'
export { default as ConnectPage } from './connect.tsx'
export { default as InvitationPage } from './invitation.tsx'
export { default as SignInPage } from './sign-in.tsx'
export { default as SignUpPage } from './sign-up.tsx'
