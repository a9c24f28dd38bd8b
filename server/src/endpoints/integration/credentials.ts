import * as tokenContract from '#contract/service-token.ts'
import * as secretContract from '#contract/signing-secret.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import { createServiceToken, listServiceTokens, revokeServiceToken } from './service-tokens.ts'
import {
  createSigningSecret,
  listSigningSecrets,
  revokeSigningSecret,
  rotateSigningSecret,
} from './signing-secrets.ts'

export const credentialEndpoints: ServedEndpoint[] = [
  serve(tokenContract.createServiceToken, createServiceToken),
  serve(tokenContract.listServiceTokens, listServiceTokens),
  serve(tokenContract.revokeServiceToken, revokeServiceToken),
  serve(secretContract.createSigningSecret, createSigningSecret),
  serve(secretContract.listSigningSecrets, listSigningSecrets),
  serve(secretContract.rotateSigningSecret, rotateSigningSecret),
  serve(secretContract.revokeSigningSecret, revokeSigningSecret),
]
