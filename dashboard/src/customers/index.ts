/** Customers: the list of customers, and one page per customer. */
export { default } from './customers.tsx'
