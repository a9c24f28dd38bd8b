/** What a database keeps sealed to know the key it belongs to again: a known text, for its own place. */
export const keyCheckPlace = 'installation'
export const keyCheckText = 'lanewise'
