/** The age in days beyond which a quote is left out of estimates: weights halve every 60 days, so it would weigh less than a thousandth. */
export const reachDays = 600
