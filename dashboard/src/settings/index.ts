/** Settings of the brokerage and of the signed-in person. */
export { AccountPage, CompanyPage, CompanySignInPage, FuelPage, MailPage } from './settings.tsx'
