/**
 * What is missing for advice on a lane whose miles are not known.
 *
 * @example groundMissing({ origin: true, destination: false }) // 'the origin is not known'
 */
export function groundMissing({
  origin,
  destination,
}: {
  /** True for an end that is not a known place. */
  readonly origin: boolean
  readonly destination: boolean
}): string {
  if (origin && destination) return 'neither the origin nor the destination is known'
  if (origin || destination) return `the ${origin ? 'origin' : 'destination'} is not known`
  return 'the miles of the lane are not known'
}
