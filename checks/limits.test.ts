import { expect, test } from 'vitest'
import * as limits from '#contract/limits.ts'
import { tableRows } from './page.ts'
import { textOf } from './repository.ts'

const page = 'docs/limits.md'
const headings = [...textOf(page).matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading)
const rows = headings.flatMap((heading) => tableRows(page, heading))
const units: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2 }

/** The limits by name, those of an object with its name: `workbookPartsMax.cells`. */
const known = new Map<string, unknown>(
  Object.entries(limits).flatMap(([name, value]) =>
    typeof value === 'object' && !Array.isArray(value)
      ? Object.entries(value).map(([part, number]) => [`${name}.${part}`, number] as const)
      : [[name, value] as const],
  ),
)

test('the page has each limit once', () => {
  const names = rows.map(([, , name]) => name)
  expect(names.length).toBeGreaterThan(100)
  expect(new Set(names).size).toBe(names.length)
})

test.each(rows)('%s: %s', (_limit, value = '', name = '') => {
  const [number = '', unit = ''] = value.split(' ')
  expect(Number(number.replaceAll(',', '')) * (units[unit] ?? 1)).toBe(known.get(name))
})

/** No caller meets these: how the service divides its own work, and what pages show first. */
const inner = new Set(
  `tenantWindowSeconds adviceLengthMax importBytesForSmallFiles smallImportBytesMax importHeadersBytesMax
  workbookPartsMax.merges workbookPartsMax.styles workbookPartsMax.formats workbookPartsMax.columns
  workbookPartsMax.parts workbookDepthMax filesReadAtOnceMax.small filesReadAtOnceMax.large
  filesReadAtOnceMax.smallWorkbook filesReadAtOnceMax.workbook smallFileBytesMax fileReadingMsMax
  fileReadingMsPerSecond firstWorkbookTurnMs firstWorkbookTurnBytes
  tokenLeewaySeconds signatureCheckBytesMax deliveryDelaysSeconds endpointsAtOnceMax
  endpointsAtOncePerTenantMax endpointSecondsMax failingEndpointsAtOnceMax customerLanesMax comparedCustomersMax
  nameVariantsMax changesPageDefault pageSizeDefault exchangeBytesMax exchangeRatesShown fuelBytesMax
  dieselWeeksShown quoteListBytesMax quoteViewTextMax suggestionsDefault quotesOfUsedPlacesMax cursorLengthMax
  signInWindowSeconds knownNetworkLookUpsMax dashboardProcessorMsMax`.split(/\s+/),
)

test('a new limit is on the page, or one that no caller meets', () => {
  const listed = new Set(rows.map(([, , name = '']) => name))
  expect([...known.keys()].filter((name) => !listed.has(name) && !inner.has(name))).toEqual([])
  expect([...inner].filter((name) => !known.has(name) || listed.has(name))).toEqual([])
})
