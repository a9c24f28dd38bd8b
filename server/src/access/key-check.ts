/** Each database contains this text, sealed with this associated data. The key that decrypts it is the key of the database. */
export const keyCheckPlace = 'installation'
export const keyCheckText = 'lanewise'
