/**
 * The weekly report: its figures, the mail with them, and the work that writes it on Mondays at 07:00 of each brokerage.
 */
export { getsReport, type WeeklyReport, weeklyReport } from './weekly-figures.ts'
export { weeklyReporter } from './weekly-reporter.ts'
