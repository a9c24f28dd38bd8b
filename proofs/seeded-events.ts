import { eventSecretPlace } from '#server/access/index.ts'
import { type SecretKey, seal } from '#server/security/index.ts'
import type { TenantIds } from './seeded-ids.ts'

/** Returns rows for an event endpoint, its secret, and a delivered event. */
export function eventRowsOf(
  ids: TenantIds,
  { at, canary, secretKey }: { readonly at: Date; readonly canary: string; readonly secretKey: SecretKey },
) {
  return {
    event_endpoints: [
      {
        endpoint_id: ids.eventEndpoint,
        url: `https://${canary}event_endpoints-url.example.com/`,
        event_types: '{lane.outcome_changed,credential.expiring}',
        state: 'active',
        disabled_reason: null,
        created_by: ids.owner,
        created_at: at,
      },
    ],
    event_secrets: [
      {
        secret_id: ids.eventSecret,
        endpoint_id: ids.eventEndpoint,
        sealed: seal(
          secretKey,
          eventSecretPlace(ids.tenant, ids.eventSecret),
          `whsec_of_brokerage_${ids.label}`,
        ),
        created_at: at,
      },
    ],
    events: [
      {
        event_number: ids.eventNumber,
        event_id: ids.event,
        lane_id: ids.lane,
        occurred_at: at,
        about: JSON.stringify({ lane: { lane_ref: `${canary}events-about` } }),
      },
    ],
    expiry_notices: [
      { endpoint_id: ids.eventEndpoint, credential: 'service_token', credential_id: ids.expiredToken },
    ],
    event_deliveries: [
      {
        endpoint_id: ids.eventEndpoint,
        event_number: ids.eventNumber,
        lane_id: ids.lane,
        state: 'delivered',
        attempts: 1,
        created_at: at,
        next_at: at,
        attempted_at: at,
        settled_at: at,
        response_status: 200,
      },
    ],
  }
}
