/** Programs that call the interface, as text to copy. They are never run here. */
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
