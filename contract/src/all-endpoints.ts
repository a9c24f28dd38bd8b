import { askApproval, askRequoteApproval, decideApproval, listApprovals } from './approvals.ts'
import { exportAuditEvents, listAuditEvents } from './audit.ts'
import { exportBacktest, getBacktest } from './backtest.ts'
import { updateTenant } from './brokerage-settings.ts'
import {
  changeCustomer,
  decideCustomers,
  exportCustomers,
  getCustomer,
  listCustomers,
  listCustomerVariants,
  renameCustomer,
} from './customers.ts'
import type { Endpoint } from './endpoint.ts'
import {
  addEventEndpoint,
  changeEventEndpoint,
  listEventDeliveries,
  listEventEndpoints,
  removeEventEndpoint,
  replayEvents,
  rotateEventSecret,
  testEventEndpoint,
} from './event-endpoints.ts'
import { addExchangeRates, listExchangeRates, loadExchangeFile } from './exchange.ts'
import { firstSteps } from './first-steps.ts'
import { exportForecasts, getForecasts } from './forecasts.ts'
import { changeFuelSchedule, getFuel, getFuelSurcharge, loadDieselPrices } from './fuel.ts'
import {
  createImport,
  getImport,
  getRefusedRows,
  integrationCreateImport,
  integrationGetImport,
  listImports,
  matchImportColumns,
  readImportHeader,
  stopImport,
  undoImport,
} from './imports.ts'
import { insightBatch } from './insight-batch.ts'
import { getRateLimit, listIntegrationCalls } from './integration-calls.ts'
import { laneAdvice, laneInsight } from './lane-insight.ts'
import { laneRecord } from './lane-record.ts'
import { markQuotes } from './mark-quotes.ts'
import {
  addMarketRates,
  eraseMarketSource,
  listMarketRates,
  loadMarketFile,
  pushMarketFile,
  pushMarketRates,
} from './market-rates.ts'
import { exportMarketStanding, getMarketStanding } from './market-standing.ts'
import { markup, quoteAdvice } from './markup.ts'
import { readPastedQuotes } from './pasted-quotes.ts'
import { exportPerformance, getPerformance, listMarginGaps } from './performance.ts'
import { addPricingRule, changePricingRule, listPricingRules, removePricingRule } from './pricing-rules.ts'
import { checkQuotes, pushOutcomes, pushQuotes } from './push-quotes.ts'
import { pushShipmentUpdates } from './push-shipment-updates.ts'
import { changeQuoteListSettings, getQuoteListSettings } from './quote-list-settings.ts'
import {
  createQuoteRequest,
  exportQuotes,
  exportShipments,
  getQuote,
  getQuoteRequest,
  listChanges,
  listQuotes,
  listShipments,
  requote,
  rollback,
  searchShipments,
  setOutcome,
} from './quote-requests.ts'
import { adviseQuotes } from './quotes-advice.ts'
import { readQuotes, readShipments } from './read-back.ts'
import { enterSandbox, resetSandbox } from './sandbox.ts'
import { createServiceToken, listServiceTokens, revokeServiceToken } from './service-token.ts'
import { shipmentUpdate } from './shipment-update.ts'
import {
  acceptInvitation,
  changeMe,
  changePassword,
  me,
  readInvitation,
  sessionToken,
  signIn,
  signOut,
  signUp,
} from './sign-in.ts'
import { checkSignature } from './signature-check.ts'
import {
  createSigningSecret,
  listSigningSecrets,
  revokeSigningSecret,
  rotateSigningSecret,
} from './signing-secret.ts'
import { suggestCustomers, suggestPlaces } from './suggestions.ts'
import { addTeam, changeTeam, listTeams, removeTeam } from './teams.ts'
import { inviteUser, listUsers, removeUser, updateUser } from './users.ts'
import { restoreQuote, voidQuote } from './void-quote.ts'

/** Every operation of the service, in OpenAPI document order. */
export const allEndpoints = [
  shipmentUpdate,
  markup,
  laneInsight,
  insightBatch,
  pushQuotes,
  checkQuotes,
  pushOutcomes,
  pushShipmentUpdates,
  pushMarketRates,
  pushMarketFile,
  readQuotes,
  readShipments,
  searchShipments,
  integrationCreateImport,
  integrationGetImport,
  createServiceToken,
  listServiceTokens,
  revokeServiceToken,
  createSigningSecret,
  listSigningSecrets,
  rotateSigningSecret,
  revokeSigningSecret,
  listIntegrationCalls,
  getRateLimit,
  checkSignature,
  enterSandbox,
  resetSandbox,
  addEventEndpoint,
  listEventEndpoints,
  changeEventEndpoint,
  removeEventEndpoint,
  rotateEventSecret,
  testEventEndpoint,
  replayEvents,
  listEventDeliveries,
  signUp,
  signIn,
  acceptInvitation,
  readInvitation,
  signOut,
  sessionToken,
  changePassword,
  me,
  changeMe,
  updateTenant,
  firstSteps,
  listUsers,
  inviteUser,
  updateUser,
  removeUser,
  listAuditEvents,
  exportAuditEvents,
  quoteAdvice,
  laneAdvice,
  adviseQuotes,
  listApprovals,
  askApproval,
  askRequoteApproval,
  decideApproval,
  listPricingRules,
  addPricingRule,
  changePricingRule,
  removePricingRule,
  laneRecord,
  suggestPlaces,
  suggestCustomers,
  readPastedQuotes,
  createQuoteRequest,
  getQuoteRequest,
  listQuotes,
  exportQuotes,
  getQuoteListSettings,
  changeQuoteListSettings,
  getFuel,
  getFuelSurcharge,
  listCustomers,
  exportCustomers,
  getCustomer,
  changeCustomer,
  listCustomerVariants,
  renameCustomer,
  decideCustomers,
  listTeams,
  addTeam,
  changeTeam,
  removeTeam,
  changeFuelSchedule,
  loadDieselPrices,
  listExchangeRates,
  addExchangeRates,
  loadExchangeFile,
  getQuote,
  listShipments,
  exportShipments,
  requote,
  setOutcome,
  markQuotes,
  voidQuote,
  restoreQuote,
  listChanges,
  rollback,
  getPerformance,
  exportPerformance,
  listMarginGaps,
  getMarketStanding,
  exportMarketStanding,
  listMarketRates,
  addMarketRates,
  loadMarketFile,
  eraseMarketSource,
  matchImportColumns,
  readImportHeader,
  createImport,
  listImports,
  getImport,
  getRefusedRows,
  stopImport,
  undoImport,
  getBacktest,
  exportBacktest,
  getForecasts,
  exportForecasts,
] as const satisfies readonly Endpoint[]
