/** Example programs that call the API, as text to copy. The dashboard never runs them. */
export { type CodeLanguage, codeLanguages } from '#contract/code-samples.ts'
export {
  type CodeBooking,
  type CodeCall,
  type CodeLane,
  codeCalls,
  exportLines,
  laneInsightCode,
  markupCode,
  shipmentUpdateCode,
} from './integration-code.ts'
