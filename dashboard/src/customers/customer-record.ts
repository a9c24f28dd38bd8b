import type { Answer } from '../api/index.ts'

export type CustomerRecord = Answer<'get-customer'>
