/**
 * The commands of operators: one *-main.ts file per command, and what only commands use.
 */
export { backUp } from './back-up.ts'
export { atDatabase, CommandRefused, exitCodeOf } from './command-database.ts'
export { examine } from './doctor.ts'
export { eraseTenant } from './erase-tenant.ts'
export { type ExportOptions, exportTenant } from './export-tenant.ts'
export { type ImportOptions, importedLines, importTenant } from './import-tenant.ts'
export { removeLostSecrets } from './lost-secrets.ts'
export { resetPassword } from './reset-password.ts'
export { changeTenantStatus } from './tenant-status.ts'
export { readLoggedHeads, verifyAuditLogs } from './verify-audit.ts'
