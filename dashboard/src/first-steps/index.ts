/** The first steps of a new brokerage, and of connecting another system. */
export { ConnectSteps, default } from './first-steps.tsx'
