/**
 * Signatures of signed writes: verifies a signature, explains why one does not match, and parses the signed body strictly.
 */
export {
  atTheService,
  explainInSteps,
  explainSignature,
  type KnownSecret,
  type Setting,
} from './explain-signature.ts'
export { readSignatureHeaders, signatureOf, verifySignature } from './signature.ts'
export { addressText, type SignedOperation, type SignedTarget, signedTarget } from './signed-operation.ts'
export { type JsonLimits, readJsonInSteps, readJsonObject } from './strict-json.ts'
