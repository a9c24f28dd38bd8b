/** Performance: win rates, margins and the calibration of the estimate, by period and group. */
export { default } from './performance.tsx'
