/** Rules: the pricing rules of the brokerage, and the quotes outside them that need approval. */
export { default } from './rules.tsx'
