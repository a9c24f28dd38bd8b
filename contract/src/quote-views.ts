/** The views of the list of quotes that every person has. Saved views have other names. */
export const builtInViews = ['All quotes', 'My quotes', 'Pending too long'] as const
