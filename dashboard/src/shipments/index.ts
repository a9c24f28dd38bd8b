/** Shipments: what was booked at which rate and cost, with totals by period. */
export { default } from './shipments.tsx'
