/** The dialog for a counter-offer of a customer: accept it, counter with a rate in between, or walk away. */
export { CounterDialog, mayCounter, mayRequote } from './counter-dialog.tsx'
export { useRequote } from './use-requote.ts'
