/** The first steps of a new brokerage. */
export { default } from './first-steps.tsx'
