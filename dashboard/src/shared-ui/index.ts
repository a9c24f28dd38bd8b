/** Components, formats and hooks used by several pages: tables, fields, filters, figures, notices, the win curve. */
export { type AddressParams, useAddress, useOwnAddress } from './address.ts'
export { Axes, valueAfter } from './axes.tsx'
export { BasisNote, OrderNote, sentTerms } from './basis-note.tsx'
export { ChoiceFilter } from './choice-filter.tsx'
export { CodeBlock } from './code-block.tsx'
export { ConfirmChange, ConfirmDialog } from './confirm-dialog.tsx'
export { CopyButton } from './copy-button.tsx'
export { CostsAhead } from './costs-ahead.tsx'
export { basedOn, range, readCurve } from './curve-reading.ts'
export { type Column, DataTable, focusLink, type RowSelection } from './data-table.tsx'
export { Difference } from './difference.tsx'
export { ExchangeRateForm, useLacksExchangeRate } from './exchange-rate-form.tsx'
export { ExportLink } from './export-link.tsx'
export { type Figure, Figures } from './figures.tsx'
export { encodingChoices, FileForm, tableFiles } from './file-form.tsx'
export {
  calendarDay,
  count,
  counted,
  day,
  dollars,
  dollarsIn,
  equipmentName,
  exactMoment,
  laneName,
  moment,
  month,
  percent,
  probability,
  ratePerMile,
  readDollars,
  roundDollars,
  signedDollars,
  signedPercent,
  since,
  zonedMoment,
} from './formats.ts'
export { type IntegrationExample, useIntegrationExample } from './integration-example.ts'
export {
  CustomerInput,
  commonEquipment,
  EquipmentInput,
  PlaceInput,
  usePlaceSuggestions,
} from './lane-inputs.tsx'
export { ButtonLink, CustomerLink, TextLink } from './links.tsx'
export {
  loadMark,
  loadWords,
  ModeFilter,
  modeNames,
  requestedMode,
  unpricedQuote,
} from './load-mode.tsx'
export { InRed, Margin, MarginPct } from './margin.tsx'
export { ageInWords, basisName, MarketReferences, marketScopeName } from './market-references.tsx'
export {
  FilterRow,
  PersonFilter,
  PlaceFilters,
  peopleChoices,
  SearchFilter,
  useNameOfPerson,
  WhoFilters,
} from './money-filters.tsx'
export { MonthCharts } from './month-charts.tsx'
export {
  CopyAsEmail,
  CustomerText,
  DoneButtons,
  NewQuote,
  useCopyAsEmail,
  useCopyText,
} from './new-quote.tsx'
export { Notices, useNotice } from './notices.tsx'
export { type Decision, decisionBefore, failureWords, shownAs, useOutcomeMarks } from './outcome-marks.ts'
export { lostQuote, ReasonDialog } from './outcome-reason.tsx'
export {
  CancelledMark,
  cancelledWords,
  OutcomeMark,
  outcomeNames,
  outcomeWords,
  type Reason,
  reasonNames,
  reasons,
  shownOutcome,
  sourceNames,
  sourcePhrases,
  VoidMark,
} from './outcome-words.tsx'
export { Page } from './page.tsx'
export { focusFirst, followPerson, usePageHeading } from './page-heading.ts'
export { PageTurner } from './page-turner.tsx'
export { PeriodInput, usePeriod } from './period.tsx'
export { daysOf, isBackwards, monthWithin, type Period, periodBefore, periodOf } from './periods.ts'
export { methods } from './price-methods.ts'
export {
  adviceOn,
  knownFields,
  type PricedQuote,
  type QuoteAdvice,
  reasonsToConfirm,
  useRateCheck,
} from './quote-facts.ts'
export {
  faultOf,
  fieldReadAs,
  fieldsBehindMore,
  labelsReadAs,
  noTerms,
  nothingTyped,
  QuoteInput,
  type RateTerms,
  type ReadFields,
  readFields,
  saysTerms,
  type TypedField,
  type TypedQuote,
  termsFields,
  termsInWords,
  typedAs,
  typedFieldNames,
  typedFields,
  typedInWords,
  unreadable,
} from './quote-inputs.tsx'
export {
  emailText,
  newestQuotes,
  rateText,
  validityChoices,
  validUntil,
} from './quote-text.ts'
export { quotedMargin, rpm } from './quoted-margin.ts'
export { asLinkToLane, asLinkToQuote, asLinkToQuotes, countedQuotes } from './quotes-links.tsx'
export { asItIs, converted, onOwnTerms } from './rate-conversion.ts'
export {
  type RateType,
  RateTypeFilter,
  rateTypeNames,
  requestedRateType,
} from './rate-type.tsx'
export { readEquipment } from './read-equipment.ts'
export { RoleTooLow } from './role-too-low.tsx'
export { CredentialState, Heed, LastUsed, Section } from './section.tsx'
export { bookedAgainstQuoted, sentDifference } from './sent-difference.ts'
export { type FormInput, useSentForm } from './sent-form.ts'
export { useOnceSettled } from './settled-fields.ts'
export {
  type Shortcut,
  showShortcuts,
  useShortcutGroups,
  useShortcutKeys,
  useShortcuts,
  useShortcutsListIsOpen,
} from './shortcuts.ts'
export { useShortcutsSwitch } from './shortcuts-switch.ts'
export { useStable } from './stable.ts'
export { Failed, Loading, Nothing } from './states.tsx'
export { shownZone, showTimeZone, startOfDay, viewerZone, wallTime } from './time-zone.ts'
export { type Option, TypeAhead, useAsking } from './type-ahead.tsx'
export { Understood } from './understood.tsx'
export { ValidFor } from './valid-for.tsx'
export { ViewTabs } from './view-tabs.tsx'
export { WinCurve } from './win-curve.tsx'
export { WinRate } from './win-rate.tsx'
