/** The columns of a file that each end of a lane can have. This file imports no package, because the dashboard uses it. */
export const placeFields = [
  'origin',
  'origin_city',
  'origin_state',
  'origin_zip',
  'destination',
  'destination_city',
  'destination_state',
  'destination_zip',
] as const
export type PlaceField = (typeof placeFields)[number]
