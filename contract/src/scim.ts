/**
 * The paths of SCIM 2.0 (RFC 7643 and 7644), by which a directory such as Entra ID or Okta manages people and groups. They are no operations of
 * the API: the protocol defines their bodies and errors.
 */
export const scimPath = '/scim/v2'

export const scimContentType = 'application/scim+json; charset=utf-8'

/** A refused request, as RFC 7644 section 3.12 defines it. */
export const scimErrorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error'

export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'sensitive'
  | 'tooMany'
  | 'uniqueness'
