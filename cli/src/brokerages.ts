import type { Brokerage, Settings } from './saved-settings.ts'

export type { Brokerage }

/** The brokerage of an answer to a sign-in. */
export const brokerageOf = ({
  id,
  name,
  test = false,
}: Omit<Brokerage, 'test'> & { test?: boolean }): Brokerage => ({
  id,
  name,
  test,
})

/**
 * The brokerage in a token, which is not verified here: the service does that. Null if the text is not a token.
 *
 * @example brokerageIdOf('eyJhbGciOi...') // 7
 */
export function brokerageIdOf(token: string): number | null {
  try {
    const { tenant_id: id } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      tenant_id?: unknown
    }
    return typeof id === 'number' ? id : null
  } catch {
    return null
  }
}

/**
 * The settings with the service token and the secret of a brokerage. Those of another brokerage are put aside, and come back
 * with that brokerage: a command never uses the session of one brokerage with the token of another.
 *
 * @param url the address of the service, because each service numbers its brokerages itself
 */
export function inBrokerage(settings: Settings, url: string, brokerage: Brokerage): Settings {
  const { token, secret, aside = {}, ...others } = settings
  const owner = ownerOf(settings)
  const [from, to] = [keyOf(settings.url ?? url, owner ?? brokerage), keyOf(url, brokerage)]
  if (from === to) return { ...settings, url, brokerage }
  const { [to]: back, ...rest } = aside
  const isEmpty = token === undefined && secret === undefined
  return {
    ...others,
    ...back,
    url,
    brokerage,
    aside: {
      ...rest,
      ...(isEmpty
        ? {}
        : {
            [from]: {
              ...(token === undefined ? {} : { token }),
              ...(secret === undefined ? {} : { secret }),
            },
          }),
    },
  }
}

/** The brokerage of the saved token and secret; null if there are none, or if an older version saved only a secret. */
export function ownerOf({ brokerage, token, session }: Settings): Pick<Brokerage, 'id'> | null {
  if (brokerage !== undefined) return brokerage
  const id = (token === undefined ? null : brokerageIdOf(token)) ?? brokerageIdOf(session?.token ?? '')
  return id === null ? null : { id }
}

const keyOf = (url: string, { id }: Pick<Brokerage, 'id'>) => `${url} ${id}`
