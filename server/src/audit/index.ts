/**
 * Records of the service's own use: security events, refusals, and calls to the integration API.
 */
export { auditCsvHead, auditCsvLines } from './audit-csv.ts'
export { auditHeads } from './audit-heads.ts'
export { type CallLog, type CallLogCounts, callLog, type OpenCall } from './call-log.ts'
export { recordExport } from './exports.ts'
export { type CameFrom, type Refusals, refusals, type TokenOwner } from './refusals.ts'
export { byOperator, type Doing, recordEvent } from './security-events.ts'
