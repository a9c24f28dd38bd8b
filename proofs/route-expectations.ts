/** The callers, in the order of the columns below. */
export const callerNames = [
  'nobody',
  'garbage',
  'service-A',
  'service-B',
  'expired-A',
  'revoked-A',
  'owner-A',
  'admin-A',
  'member-A',
  'viewer-A',
  'removed-A',
  'cookie-A',
  'bare-cookie-A',
  'owner-B',
] as const
export type CallerName = (typeof callerNames)[number]

/**
 * The status that every operation returns for every kind of credential, written by hand. The walk fails if an operation has no
 * row, or if a row is wrong.
 *
 * The second column is the owner of the records that the request names: brokerage A, B, or none (-). `exp` and `rvk` are an
 * expired and a revoked service token of A; `rem` is the session of a removed person of A. The cookie is that of A's owner. The
 * dashboard sends a header with it; another site cannot (`bare`); and no operation under /api/integrations reads it.
 */
const table = `
                            any caller   service token      dashboard token          cookie   B
                            none garb    A   B   exp rvk    own adm mem vwr rem      A  bare  own
  shipment-update        A  401 401  200 404 401 401  401 401 401 401 401  401 401  401
  shipment-update        B  401 401  404 200 401 401  401 401 401 401 401  401 401  401
  markup                 -  401 401  200 200 401 401  401 401 401 401 401  401 401  401
  lane-insight           -  401 401  200 200 401 401  401 401 401 401 401  401 401  401
  insight-batch          -  401 401  200 200 401 401  401 401 401 401 401  401 401  401
  push-quotes            -  401 401  200 200 401 401  401 401 401 401 401  401 401  401
  check-quotes           -  401 401  200 200 401 401  401 401 401 401 401  401 401  401
  push-outcomes          -  401 401  200 200 401 401  401 401 401 401 401  401 401  401
  push-shipment-updates  -  401 401  200 200 401 401  401 401 401 401 401  401 401  401
  push-market-rates      -  401 401  200 200 401 401  401 401 401 401 401  401 401  401
  push-market-file       -  401 401  200 200 401 401  401 401 401 401 401  401 401  401
  read-quotes            -  401 401  200 200 401 401  401 401 401 401 401  401 401  401
  read-shipments         -  401 401  200 200 401 401  401 401 401 401 401  401 401  401
  search-shipments       -  401 401  200 200 401 401  401 401 401 401 401  401 401  401
  integration-create-import -  401 401  202 202 401 401  401 401 401 401 401  401 401  401
  integration-get-import A  401 401  200 404 401 401  401 401 401 401 401  401 401  401
  integration-get-import B  401 401  404 200 401 401  401 401 401 401 401  401 401  401
  create-service-token   -  401 401  401 401 401 401  201 201 403 403 401  401 401  201
  list-service-tokens    -  401 401  401 401 401 401  200 200 403 403 401  401 401  200
  revoke-service-token   A  401 401  401 401 401 401  200 200 403 403 401  401 401  404
  revoke-service-token   B  401 401  401 401 401 401  404 404 403 403 401  401 401  200
  create-signing-secret  -  401 401  401 401 401 401  201 201 403 403 401  401 401  201
  list-signing-secrets   -  401 401  401 401 401 401  200 200 403 403 401  401 401  200
  rotate-signing-secret  A  401 401  401 401 401 401  201 201 403 403 401  401 401  404
  rotate-signing-secret  B  401 401  401 401 401 401  404 404 403 403 401  401 401  201
  revoke-signing-secret  A  401 401  401 401 401 401  200 200 403 403 401  401 401  404
  revoke-signing-secret  B  401 401  401 401 401 401  404 404 403 403 401  401 401  200
  list-integration-calls A  401 401  401 401 401 401  200 200 403 403 401  200 200  200
  list-integration-calls B  401 401  401 401 401 401  200 200 403 403 401  200 200  200
  list-audit-events      A  401 401  401 401 401 401  200 200 403 403 401  200 200  200
  list-audit-events      B  401 401  401 401 401 401  200 200 403 403 401  200 200  200
  export-audit-events    A  401 401  401 401 401 401  200 200 403 403 401  200 200  200
  export-audit-events    B  401 401  401 401 401 401  200 200 403 403 401  200 200  200
  get-rate-limit         -  401 401  401 401 401 401  200 200 403 403 401  200 200  200
  check-signature        -  401 401  401 401 401 401  200 200 403 403 401  200 403  200
  get-sandbox            -  401 401  401 401 401 401  200 200 403 403 401  200 200  200
  create-sandbox         -  401 401  401 401 401 401  201 201 403 403 401  201 403  201
  enter-sandbox          -  401 401  401 401 401 401  404 404 403 403 401  404 403  404
  reset-sandbox          -  401 401  401 401 401 401  404 404 403 403 401  404 403  404
  add-event-endpoint     -  401 401  401 401 401 401  201 201 403 403 401  201 403  201
  list-event-endpoints   -  401 401  401 401 401 401  200 200 403 403 401  200 200  200
  change-event-endpoint  A  401 401  401 401 401 401  200 200 403 403 401  200 403  404
  change-event-endpoint  B  401 401  401 401 401 401  404 404 403 403 401  404 403  200
  remove-event-endpoint  A  401 401  401 401 401 401  200 200 403 403 401  200 403  404
  remove-event-endpoint  B  401 401  401 401 401 401  404 404 403 403 401  404 403  200
  rotate-event-secret    A  401 401  401 401 401 401  201 201 403 403 401  201 403  404
  rotate-event-secret    B  401 401  401 401 401 401  404 404 403 403 401  404 403  201
  test-event-endpoint    A  401 401  401 401 401 401  202 202 403 403 401  202 403  404
  test-event-endpoint    B  401 401  401 401 401 401  404 404 403 403 401  404 403  202
  replay-events          A  401 401  401 401 401 401  202 202 403 403 401  202 403  404
  replay-events          B  401 401  401 401 401 401  404 404 403 403 401  404 403  202
  list-event-deliveries  A  401 401  401 401 401 401  200 200 403 403 401  200 200  200
  list-event-deliveries  B  401 401  401 401 401 401  200 200 403 403 401  200 200  200
  sign-out               -  401 401  401 401 401 401  200 200 200 200 401  200 403  200
  session-token          -  401 401  401 401 401 401  200 200 200 200 401  200 403  200
  change-password        -  401 401  401 401 401 401  200 200 200 200 401  200 403  200
  me                     -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  update-tenant          -  401 401  401 401 401 401  200 200 403 403 401  200 403  200
  first-steps            -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  list-users             -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  invite-user            -  401 401  401 401 401 401  201 201 403 403 401  201 403  201
  update-user            A  401 401  401 401 401 401  200 200 403 403 401  200 403  404
  update-user            B  401 401  401 401 401 401  404 404 403 403 401  404 403  200
  remove-user            A  401 401  401 401 401 401  200 200 403 403 401  200 403  404
  remove-user            B  401 401  401 401 401 401  404 404 403 403 401  404 403  200
  quote-advice           -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  lane-advice            -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  lane-record            -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  suggest-places         -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  advise-lanes           -  401 401  401 401 401 401  200 200 200 200 401  200 403  200
  read-pasted-lanes      -  401 401  401 401 401 401  200 200 200 200 401  200 403  200
  suggest-customers      -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  create-quote-request   -  401 401  401 401 401 401  201 201 201 403 401  201 403  201
  get-quote-request      A  401 401  401 401 401 401  200 200 200 200 401  200 200  404
  get-quote-request      B  401 401  401 401 401 401  404 404 404 404 401  404 404  200
  list-lanes             A  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  list-lanes             B  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  export-lanes           A  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  export-lanes           B  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  get-lane               A  401 401  401 401 401 401  200 200 200 200 401  200 200  404
  get-lane               B  401 401  401 401 401 401  404 404 404 404 401  404 404  200
  list-shipments         A  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  list-shipments         B  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  export-shipments       A  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  export-shipments       B  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  requote                A  401 401  401 401 401 401  201 201 201 403 401  201 403  404
  requote                B  401 401  401 401 401 401  404 404 404 403 401  404 403  201
  counter-advice         A  401 401  401 401 401 401  409 409 409 409 401  409 409  404
  counter-advice         B  401 401  401 401 401 401  404 404 404 404 401  404 404  409
  set-outcome            A  401 401  401 401 401 401  200 200 200 403 401  200 403  404
  set-outcome            B  401 401  401 401 401 401  404 404 404 403 401  404 403  200
  mark-lanes             A  401 401  401 401 401 401  200 200 200 403 401  200 403  200
  mark-lanes             B  401 401  401 401 401 401  200 200 200 403 401  200 403  200
  get-quote-list-settings -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  change-quote-list-settings -  401 401  401 401 401 401  200 200 200 200 401  200 403  200
  list-customers         -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  export-customers       -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  get-customer           A  401 401  401 401 401 401  200 200 200 200 401  200 200  404
  get-customer           B  401 401  401 401 401 401  404 404 404 404 401  404 404  200
  list-approvals         -  401 401  401 401 401 401  200 200 200 403 401  200 200  200
  ask-approval           -  401 401  401 401 401 401  409 409 409 403 401  409 403  409
  ask-requote-approval   A  401 401  401 401 401 401  409 409 409 403 401  409 403  404
  ask-requote-approval   B  401 401  401 401 401 401  404 404 404 403 401  404 403  409
  decide-approval        A  401 401  401 401 401 401  200 200 403 403 401  200 403  404
  decide-approval        B  401 401  401 401 401 401  404 404 404 403 401  404 403  200
  list-pricing-rules     -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  add-pricing-rule       -  401 401  401 401 401 401  201 201 403 403 401  201 403  201
  change-pricing-rule    A  401 401  401 401 401 401  200 200 403 403 401  200 403  404
  change-pricing-rule    B  401 401  401 401 401 401  404 404 403 403 401  404 403  200
  test-pricing-rule      -  401 401  401 401 401 401  200 200 403 403 401  200 403  200
  remove-pricing-rule    A  401 401  401 401 401 401  200 200 403 403 401  200 403  404
  remove-pricing-rule    B  401 401  401 401 401 401  404 404 403 403 401  404 403  200
  change-customer        -  401 401  401 401 401 401  200 200 403 403 401  200 403  200
  list-customer-variants -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  rename-customer        -  401 401  401 401 401 401  200 200 403 403 401  200 403  200
  dismiss-customer-variant - 401 401  401 401 401 401  200 200 403 403 401  200 403  200
  offer-customer-variant -  401 401  401 401 401 401  404 404 403 403 401  404 403  404
  merge-customers        -  401 401  401 401 401 401  200 200 403 403 401  200 403  200
  unmerge-customer       A  401 401  401 401 401 401  200 200 403 403 401  200 403  404
  unmerge-customer       B  401 401  401 401 401 401  404 404 403 403 401  404 403  200
  list-teams             -  401 401  401 401 401 401  200 200 403 403 401  200 200  200
  add-team               -  401 401  401 401 401 401  201 201 403 403 401  201 403  201
  change-team            A  401 401  401 401 401 401  200 200 403 403 401  200 403  404
  change-team            B  401 401  401 401 401 401  404 404 403 403 401  404 403  200
  remove-team            A  401 401  401 401 401 401  200 200 403 403 401  200 403  404
  remove-team            B  401 401  401 401 401 401  404 404 403 403 401  404 403  200
  get-fuel               -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  get-fuel-surcharge     -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  change-fuel-schedule   -  401 401  401 401 401 401  200 200 403 403 401  200 403  200
  load-diesel-prices     -  401 401  401 401 401 401  200 200 403 403 401  200 403  200
  list-exchange-rates    -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  add-exchange-rates     -  401 401  401 401 401 401  200 200 403 403 401  200 403  200
  void-quote             A  401 401  401 401 401 401  409 409 409 403 401  409 403  404
  void-quote             B  401 401  401 401 401 401  404 404 404 403 401  404 403  409
  restore-quote          A  401 401  401 401 401 401  200 200 200 403 401  200 403  404
  restore-quote          B  401 401  401 401 401 401  404 404 404 403 401  404 403  200
  list-changes           A  401 401  401 401 401 401  200 200 200 200 401  200 200  404
  list-changes           B  401 401  401 401 401 401  404 404 404 404 401  404 404  200
  rollback               A  401 401  401 401 401 401  200 200 403 403 401  200 403  404
  rollback               B  401 401  401 401 401 401  404 404 403 403 401  404 403  200
  get-performance        A  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  get-performance        B  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  export-performance     A  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  export-performance     B  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  get-missed-margin      -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  list-missed-quotes     -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  export-missed-margin   -  401 401  401 401 401 401  409 409 409 409 401  409 409  409
  list-margin-gaps       A  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  list-margin-gaps       B  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  get-market-standing    -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  export-market-standing -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  list-market-rates      -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  add-market-rates       -  401 401  401 401 401 401  200 200 200 403 401  200 403  200
  load-market-file       -  401 401  401 401 401 401  200 200 200 403 401  200 403  200
  erase-market-source    A  401 401  401 401 401 401  200 200 403 403 401  200 403  404
  erase-market-source    B  401 401  401 401 401 401  404 404 403 403 401  404 403  200
  list-market-keys       -  401 401  401 401 401 401  200 200 403 403 401  200 200  200
  set-market-key         -  401 401  401 401 401 401  200 200 403 403 401  200 403  200
  remove-market-key      -  401 401  401 401 401 401  200 200 403 403 401  200 403  200
  create-import          -  401 401  401 401 401 401  202 202 202 403 401  202 403  202
  match-import-columns   -  401 401  401 401 401 401  200 200 200 403 401  200 403  200
  list-imports           -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  get-import             A  401 401  401 401 401 401  200 200 200 200 401  200 200  404
  get-import             B  401 401  401 401 401 401  404 404 404 404 401  404 404  200
  stop-import            A  401 401  401 401 401 401  200 200 200 403 401  200 403  404
  stop-import            B  401 401  401 401 401 401  404 404 404 403 401  404 403  200
  undo-import            A  401 401  401 401 401 401  202 202 403 403 401  202 403  404
  undo-import            B  401 401  401 401 401 401  404 404 403 403 401  404 403  202
  import-sample-data     -  401 401  401 401 401 401  409 409 403 403 401  409 403  409
  get-backtest           -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  get-calibration        -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  get-pilot              -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  switch-pilot           -  401 401  401 401 401 401  200 200 403 403 401  200 403  200
  switch-experiment      -  401 401  401 401 401 401  200 200 403 403 401  200 403  200
  get-pilot-report       -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  list-pilot-entries     -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  export-pilot           -  401 401  401 401 401 401  200 200 200 200 401  200 200  200
  sign-up                -  201 201  201 201 201 201  201 201 201 201 201  201 201  201
  sign-in                A  401 401  401 401 401 401  401 401 401 401 401  401 401  401
  sign-in                B  200 200  200 200 200 200  200 200 200 200 200  200 200  200
  read-invitation        A  401 401  401 401 401 401  401 401 401 401 401  401 401  401
  read-invitation        B  200 200  200 200 200 200  200 200 200 200 200  200 200  200
  accept-invitation      A  401 401  401 401 401 401  401 401 401 401 401  401 401  401
  accept-invitation      B  200 200  200 200 200 200  200 200 200 200 200  200 200  200
`

export interface Expectation {
  readonly operation: string
  readonly about: 'A' | 'B' | '-'
  readonly statuses: Readonly<Record<CallerName, number>>
}

export const expectations: readonly Expectation[] = table
  .split('\n')
  .filter((line) => /^ +[a-z-]+ +[AB-] /.test(line))
  .map((line) => {
    const [operation = '', about = '', ...statuses] = line.trim().split(/ +/)
    if (statuses.length !== callerNames.length) throw new Error(`Not a status for every caller: ${line}`)
    return {
      operation,
      about: about as Expectation['about'],
      statuses: Object.fromEntries(
        callerNames.map((name, at) => [name, Number(statuses[at])]),
      ) as Expectation['statuses'],
    }
  })
