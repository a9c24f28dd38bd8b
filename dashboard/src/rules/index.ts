/** The pricing rules of the brokerage, and the quotes outside them that need approval. */
export { ApprovalsPage } from './approvals.tsx'
export { RulesPage } from './rules.tsx'
