import type { Answer } from '../api/index.ts'
import type { RateType } from '../shared-ui/index.ts'

export type CustomerRecord = Answer<'get-customer'>

/** The rate type that the figures count, as a parameter; empty for both. */
export type OfType = { readonly rate_type?: RateType }
