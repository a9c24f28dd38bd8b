import { Text } from '@mantine/core'
import type { Answer } from '../api/index.ts'

type Found = Pick<Extract<Answer<'quote-advice'>, { found: false }>, 'unknown_places'>

/** The unknown places of a lane. They explain why the lane has no history. */
export function UnknownPlaces({ answer }: { answer: object | null | undefined }) {
  const { unknown_places: places = [] } = (answer ?? {}) as Found
  return places.map(({ parameter, sent, closest }) => (
    <Text key={parameter} size="sm" style={{ overflowWrap: 'anywhere' }}>
      The {parameter} “{sent}” is not a known place.
      {closest.length > 0 && ` Did you mean ${closest.join(' or ')}?`}
    </Text>
  ))
}
