/** A file of `migrations`. */
export interface Migration {
  readonly name: string
  readonly sql: string
}
