/** The recent requests for approval, which all pages share, and their badges in the menu. */
export { AnswersBadge, ToDecideBadge } from './approval-badges.tsx'
export { type Approval, useMyApprovals, useRecentApprovals } from './use-approvals.ts'
