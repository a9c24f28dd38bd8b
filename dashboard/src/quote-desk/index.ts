/** The quote desk: type or paste lanes, get advice while typing, and save the quotes. */
export { default } from './quote-desk.tsx'
