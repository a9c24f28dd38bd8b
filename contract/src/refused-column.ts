/** The beginning of the name of the column of reasons in a file of refused rows. An import does not read this column. */
export const refusedColumn = 'Why refused'
