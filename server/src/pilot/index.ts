/**
 * The sealed pilot: forecasts of live quotes, recorded in a chain of hashes before their outcomes exist, and their outcomes.
 */
export { pilotKeeper } from './pilot-keeper.ts'
export { type PilotReports, pilotReports } from './pilot-reports.ts'
export { type QuoteToForecast, quoteToForecast, repOf, sealForecasts } from './seal-forecasts.ts'
export { switchExperiment, switchPilot } from './switch-pilot.ts'
