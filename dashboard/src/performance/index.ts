/** Performance: win rates, margins and the calibration of the estimate. */
export { default } from './performance.tsx'
