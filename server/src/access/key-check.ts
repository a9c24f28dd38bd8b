/** The associated data and the known text that a database stores sealed, to recognize the key that it belongs to. */
export const keyCheckPlace = 'installation'
export const keyCheckText = 'lanewise'
