/** Shipments: booked quotes with their rates, costs and margins, and the totals of a period. */
export { default } from './shipments.tsx'
