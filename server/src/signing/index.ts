/**
 * Signatures of signed writes: checking one, explaining why one does not match, and parsing the signed body strictly.
 */
export { explainSignature, type KnownSecret, type Setting } from './explain-signature.ts'
export { readSignatureHeaders, signatureOf, verifySignature } from './signature.ts'
export { readJsonObject } from './strict-json.ts'
