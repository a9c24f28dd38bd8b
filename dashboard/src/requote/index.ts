/** The dialog that quotes a load again: at our rate, or in answer to a counter-offer of the customer. */
export { mayRequote, RequoteDialog } from './requote-dialog.tsx'
