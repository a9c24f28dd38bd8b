/** The orders of day and month in a date such as 3/1/2026. */
export const dateOrders = ['month_first', 'day_first'] as const
export type DateOrder = (typeof dateOrders)[number]
