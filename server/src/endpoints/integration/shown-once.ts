/** The warning beside a token or a secret. @example shownOnce('token') // 'This token is shown once. ...' */
export const shownOnce = (what: string) =>
  `This ${what} is shown once. Store it now; it cannot be shown again.`
