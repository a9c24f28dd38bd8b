/** The brokerage that a credential belongs to. */
export interface Brokerage {
  readonly id: number
  readonly name: string
  /** True for a test brokerage. */
  readonly test: boolean
}

/** The content of the settings file. It contains credentials, so only its owner may read it. */
export interface Settings {
  readonly url?: string
  /** The brokerage of the session, the service token and the secret. */
  readonly brokerage?: Brokerage
  /** A service token. */
  readonly token?: string
  /** A signing secret. */
  readonly secret?: string
  /** The session of a sign-in, which expires after hours. */
  readonly session?: { readonly token: string; readonly expires_at: string; readonly email: string }
  /** The service tokens and secrets of other brokerages, by the address of the service and the id of the brokerage. */
  readonly aside?: { readonly [brokerage: string]: Pick<Settings, 'token' | 'secret'> }
}
