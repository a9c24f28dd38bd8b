/** Steps with their state: of a new brokerage, and of connecting another system. */
export type { Step } from './step.ts'
export { Steps } from './steps.tsx'
