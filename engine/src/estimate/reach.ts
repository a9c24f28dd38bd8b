/** Quotes older than this many days are excluded from estimates: with a half-life of 60 days, their weight is below 1/1000. */
export const reachDays = 600
