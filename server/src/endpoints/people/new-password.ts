import { invalid } from '#contract/errors.ts'
import { isGuessable } from '../../security/index.ts'

/** @throws Problem if the password is easy to guess. `ownWords` are names that it must not contain. */
export function refuseGuessable(password: string, ownWords: readonly string[], pointer: string): void {
  if (isGuessable(password, ownWords)) {
    throw invalid([
      {
        pointer,
        code: 'guessable',
        detail: 'The password is easy to guess; use a few unrelated words, without your name or company.',
      },
    ])
  }
}
