/** Requests for approval, as every page knows them: what waits for whom, and the badges in the menu. */
export { AnswersBadge, ToDecideBadge } from './approval-badges.tsx'
export { type Approval, useMyApprovals, useRecentApprovals } from './use-approvals.ts'
