/** Example programs that call the API, as text to copy. The dashboard never runs them. */
export {
  type CodeBooking,
  type CodeCall,
  type CodeLane,
  type CodeLanguage,
  codeCalls,
  codeLanguages,
  exportLines,
  laneInsightCode,
  markupCode,
  shipmentUpdateCode,
} from './integration-code.ts'
