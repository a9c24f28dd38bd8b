/** The quote desk: type or paste quotes, get advice while typing, and save them. */
export { default } from './quote-desk.tsx'
