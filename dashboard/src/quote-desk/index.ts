/** The quote desk: lanes are typed or pasted, advice appears while typing, and the quotes are saved. */
export { default } from './quote-desk.tsx'
