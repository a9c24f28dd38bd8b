import { expect, test } from 'vitest'
import { foreignHeaders, foreignMeanings } from './foreign-headers.ts'
import { foldedHeader, importFieldNames, importFields } from './import-fields.ts'

test('each name in another language is known once, and is no English name', () => {
  const folded = Object.values({ ...foreignHeaders, ...foreignMeanings })
    .flat()
    .map(foldedHeader)
  const english = importFieldNames
    .flatMap((field) => [field, ...importFields[field].aliases])
    .map(foldedHeader)
  expect(folded.filter((name, at) => folded.indexOf(name) !== at || english.includes(name))).toEqual([])
})
