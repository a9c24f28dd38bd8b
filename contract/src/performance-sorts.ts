/** The figures by which rows of results can be sorted. */
export const performanceSorts = [
  'quotes',
  'win_rate',
  'margin',
  'margin_pct',
  'landed_vs_quoted',
  'lost_to_cost',
  'lost_to_rate',
  'quoted_too_low',
] as const
