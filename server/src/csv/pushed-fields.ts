import type { ImportField } from './charge-fields.ts'
import { foldedNames } from './import-fields.ts'

/** Fields of a pushed quote that imported files do not have. */
const pushedOnlyFields = {
  valid_until: {
    description: 'until when the rate is valid',
    aliases: [
      'Valid Through',
      'Expires',
      'Expires At',
      'Expires On',
      'Expiration',
      'Expiration Date',
      'Expiry',
    ],
  },
} as const satisfies Record<string, ImportField>

type PushedOnlyField = keyof typeof pushedOnlyFields

/** Folded header -> field that only a pushed quote has. None of these headers is a header of an import field. */
export const pushedOnlyFieldOfHeader: ReadonlyMap<string, PushedOnlyField> = new Map(
  (Object.keys(pushedOnlyFields) as PushedOnlyField[]).flatMap((field) =>
    foldedNames(field, pushedOnlyFields[field]),
  ),
)
