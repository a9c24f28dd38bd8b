/** The associated data and the known text that each database contains sealed: the key that opens it is the right one. */
export const keyCheckPlace = 'installation'
export const keyCheckText = 'lanewise'
