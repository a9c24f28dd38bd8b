/** Settings of the brokerage and of the signed-in person. */
export { AccountPage, CompanyPage, FuelPage } from './settings.tsx'
