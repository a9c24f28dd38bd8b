/** All limits of the service, with their reasons. */

/** The rate limit of the interface: requests per tenant in any one second, over all integration endpoints. */
export const tenantRequestsPerWindowMax = 10
export const tenantWindowSeconds = 1

/** The interface's replay window: how far a signed timestamp may be from the server clock, on either side. */
export const signatureToleranceSeconds = 300

/**
 * Maximum JSON body, uncompressed. Real shipment updates are under 1 KiB. The limit bounds the work before the HMAC
 * check.
 */
export const bodyBytesMax = 64 * 1024
/** Maximum body of a quote request: 100 quotes, each under 2 KiB, and their advice. */
export const quoteRequestBytesMax = 512 * 1024
/** How long a save can be judged by the advice that it returns. */
export const adviceMinutes = 10
/** Maximum characters of `advice`. It usually has some 1,500, and more with up to five rules in it. */
export const adviceLengthMax = 8_000
/**
 * Maximum CSV file of past quotes: a million rows of about 120 bytes. Applies to the compressed and the uncompressed
 * file.
 */
export const importBytesMax = 128 * 1024 * 1024
/**
 * Total size of the files of all brokerages that an instance holds in memory while it receives, queues or imports them, as sent. The
 * memory is reserved as the bytes arrive.
 */
export const importBytesHeldMax = 256 * 1024 * 1024
/** The share of one brokerage, with its test brokerage: the largest file. */
export const importBytesPerBrokerageMax = importBytesHeldMax / 2
/** A quarter of the memory is only for brokerages that hold little, so that large files never refuse small ones. */
export const importBytesForSmallFiles = importBytesHeldMax / 4
export const smallImportBytesMax = 4 * 1024 * 1024
/** The header of an imported file must end within this many bytes. */
export const importHeadBytesMax = 256 * 1024
export const importColumnsMax = 1_000
/** Maximum workbook: a hundred thousand rows of fourteen columns have 18 MiB. */
export const workbookBytesMax = 32 * 1024 * 1024
/** Maximum size of a workbook's sheets, uncompressed: XML is about ten times as large as its compressed form. */
export const workbookUnpackedBytesMax = 256 * 1024 * 1024
/** Maximum size of the text of a sheet: four hundred thousand rows of 120 bytes. The service holds it while its process ends. */
export const workbookTextBytesMax = 48 * 1024 * 1024
/**
 * What a workbook may become in memory. A file of 32 MiB has some 2.5 million cells and 1.2 million different texts; spreadsheet
 * programs write at most 65,490 styles and 16,384 columns.
 */
export const workbookPartsMax = {
  cells: 5_000_000,
  texts: 2_000_000,
  merges: 100_000,
  styles: 65_536,
  formats: 10_000,
  columns: 16_384,
  sheets: 1_000,
  parts: 10_000,
} as const
/** Maximum length of one text of a workbook, in characters. A cell has at most 32,767, each of which may need seven. */
export const workbookCellLengthMax = 256 * 1024
/** Maximum processor time for one workbook. The largest of the usual kind takes five seconds. */
export const workbookProcessorSecondsMax = 30
/**
 * Maximum memory of the process that reads a workbook. The program has 80 to 100 MB of it. The largest workbook of the usual kind,
 * with a hundred thousand rows, needs 185 MB. The service itself has the file and the text of the sheet meanwhile.
 */
export const workbookMemoryBytesMax = 208 * 1024 * 1024
/** Maximum nesting of the XML of a workbook. Spreadsheet programs write ten levels. */
export const workbookDepthMax = 100
/** The names of `importColumnsMax` columns. A character may need up to six bytes in JSON. */
export const importHeadersBytesMax = 512 * 1024

/** Files that an instance reads at the same time, over all brokerages. The limit leaves processor time and memory for requests. */
export const filesReadAtOnceMax = { small: 2, large: 1, smallWorkbook: 1, workbook: 1 } as const
/** Files that wait to be read. Each is in memory, and a brokerage has one at a time. */
export const filesWaitingMax = 100
/** The size up to which a file is small: some 10,000 rows, which take a fifth of a second. */
export const smallFileBytesMax = 1024 * 1024
/**
 * Reading time of one brokerage: ten seconds at once, and half of a processor. Then its next file waits, for at most twice ten
 * seconds.
 */
export const fileReadingMsMax = 10_000
export const fileReadingMsPerSecond = 500
/** The processor time of the first turn of a small workbook. Others wait for its end. */
export const firstWorkbookTurnMs = 1_000
/** The memory of the process in that turn: a process beside it may read a large workbook. The program is in both, and in memory once. */
export const firstWorkbookTurnBytes = 136 * 1024 * 1024

/** How long an approval can be decided: a quote that waits longer than a day is no longer wanted. */
export const approvalHours = 24
/** Approvals in the list, enough for the last weeks. */
export const approvalsListedMax = 200
export const noteLengthMax = 500
/** Pricing rules of a brokerage. Limited, because each quote is checked against every rule, and all are read with the settings. */
export const rulesMax = 200
/** Past quotes that a pricing rule is tested on, newest first: about half a second of work. */
export const ruleTestQuotesMax = 2_000
/** Quotes in the table of missed margin: as many as a person looks through. The exported file has all quotes. */
export const missedQuotesMax = 50

/** Maximum nesting of a JSON body. JSON.parse accepts 100,000 levels; no request needs more than 4. */
export const jsonDepthMax = 16
/** Maximum number of keys in a message to `/mcp`. `body-keys.ts` has the maximum for bodies of endpoints. */
export const messageKeysMax = 64
/**
 * Unknown keys that a body, and each item of its lists, may have in addition to the keys of its largest valid form. A system may
 * send its whole rows, because unknown fields are ignored.
 */
export const unknownKeysMax = 20

/** The longest key of a JSON body, in characters. The longest name of a member has 30. */
export const jsonKeyLengthMax = 1_000
/**
 * Items of all lists of a JSON body together, in addition to one item for each permitted key. Most items are objects with keys, and
 * the longest list of texts has 1,000 items. JSON.parse would build 2.5 million empty objects from the largest body, in half a
 * second, before a list's own maximum is checked.
 */
export const jsonItemsMax = 20_000

/** Maximum entries and length of the header `Ignored-Fields`. Clients accept 8 to 16 KiB of headers in total. */
export const ignoredPathsMax = 20
export const ignoredHeaderLengthMax = 2_000
/** Maximum number of unknown fields that an error lists. */
export const unknownFieldErrorsMax = 100

export const uriBytesMax = 8 * 1024
export const headerBytesMax = 16 * 1024

/** Names of people, customers, carriers and tokens, in code points. Longer names are mistakes. */
export const nameLengthMax = 200
export const labelLengthMax = 100
/** Maximum rate or cost in dollars. A truckload costs less than 100,000; the database column limits the value. */
export const dollarsMax = 9_999_999.99

export const serviceTokenLifetimeDays = 365
/** Responses, the dashboard and an event announce the expiry of a service token this many days before. */
export const tokenExpiryNoticeDays = 30
export const dashboardTokenLifetimeHours = 12
/** Lifetime of a session in the test brokerage. It is short, because ending the person's sessions in the real brokerage does not end it. */
export const sandboxSessionHours = 1
/**
 * Lifetime of a short-lived session token: long enough to complete a form, short enough to limit the damage of a
 * leak.
 */
export const sessionTokenLifetimeSeconds = 300
export const invitationLifetimeDays = 7
/** Invitations of a brokerage in a day of UTC, over all instances: twice the people of a large one that starts on that day. */
export const invitationsPerDayMax = 100
/** Clock skew between instances of the service that token validation tolerates. */
export const tokenLeewaySeconds = 30

/** Size of the log of integration calls: enough to debug a weekend of failures, and at most a few megabytes. */
export const callsKeptPerTenantMax = 5_000
export const callsKeptDaysMax = 7

/** A check is expensive: for each secret, it computes at least one signature per frequent mistake. */
export const signatureChecksPerMinuteMax = 30
/**
 * Maximum request of a signature check: a body of `bodyBytesMax` as a JSON string, where a control character needs six bytes, and the
 * headers. A longer body is refused: it is rewritten and signed some thirty times, and a short one shows the same mistake.
 */
export const signatureCheckBytesMax = 6 * bodyBytesMax + 32 * 1024

export const liveSecretsPerNameMax = 2
export const secretOverlapHoursDefault = 24
export const secretOverlapHoursMax = 7 * 24

/** Maximum event addresses per brokerage. Each address takes one request per event. */
export const eventEndpointsMax = 5
export const eventUrlLengthMax = 1_000
/**
 * Delays before the retries of a failed delivery: the schedule of the Standard Webhooks specification, ten attempts
 * over three days. Each delay has a jitter of up to 10 %, so that retries do not coincide.
 */
export const deliveryDelaysSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const
/** Time limit of one attempt, from the DNS lookup to the end of the response. */
export const deliverySecondsMax = 10
/** Maximum bytes read of a response. Only the status of the response matters. */
export const deliveryAnswerBytesMax = 64 * 1024
/** Maximum characters of a response in the log of deliveries. */
export const deliveryAnswerSavedMax = 500
/** Concurrent attempts per address and instance. An address whose last attempt failed gets one at a time. */
export const deliveriesPerEndpointMax = 8
/**
 * Addresses that an instance sends to concurrently, and how many of them may be failing, so that others need not
 * wait.
 */
export const endpointsAtOnceMax = 64
/** Of these addresses, those of one brokerage, even if it removes slow addresses and adds others. */
export const endpointsAtOncePerTenantMax = 5
/** While other addresses wait, an address that was sent to for this long gives up its place after the running attempts. */
export const endpointSecondsMax = 10
/** Test events of a brokerage per second and instance. The service posts to an address as often as somebody asks. */
export const eventTestsPerSecondMax = 1
export const failingEndpointsAtOnceMax = 32
/** Days for which events and deliveries are kept: long enough to notice a missed event and to replay it. */
export const eventsKeptDaysMax = 30
/** Maximum events per replay request. */
export const replayedEventsMax = 10_000

/** NIST SP 800-63B: at least 15 characters if the password is the only factor, and a maximum of at least 64. */
export const passwordLengthMin = 15
export const passwordLengthMax = 128

/** A year: a rate that is valid for longer is a contract. */
export const validHoursMax = 8_760

export const quotesPerRequestMax = 100

/** Teams of a brokerage, and members and customers of a team. */
export const teamsMax = 50
export const teamMembersMax = 200
export const teamCustomersMax = 500
/** Length of the tier of a customer: a letter, or a word such as Strategic. */
export const tierLengthMax = 40
/** The longest payment terms in days. Terms above 180 days are mistakes or disputes. */
export const paymentDaysMax = 365
/** Lanes on the page of a customer. The performance page lists all of them. */
export const customerLanesMax = 20
/** Customers whose names are compared for spelling variants, most quoted first, and the pairs that a page offers. */
export const comparedCustomersMax = 5_000
export const nameVariantsMax = 50

/** Maximum rows per paste into the quote desk: more than a quote request accepts, so that a person can select some. */
export const pastedRowsMax = 300
export const pastedColumnsMax = 60
export const pastedLengthMax = 60_000

/**
 * A file of market rates: a weekly export of some thousand lanes, at 400 characters a line (the multi-lane output of DAT has 35
 * columns) have 2 MB, or 4 in UTF-16. The limit holds for the file as sent and unpacked. It is held in memory, so it is smaller than
 * an import.
 */
export const marketFileRowsMax = 5_000
export const marketFileBytesMax = 4 * 1024 * 1024
/**
 * No more rates of a file are saved after this time. It is enough for ten transactions of 500 rates, even if each takes the longest
 * database time of a request, 2.5 seconds. With a shorter time, a slow file might never be complete, because sending it again
 * begins with its first rate. A shutdown does not wait that long: the rates saved until then stay.
 */
export const marketFileSecondsMax = 30

/** Maximum lanes per batch: the size of a bid list from a shipper. Comparable services have the same limit. */
export const batchLanesMax = 1_000
/** Lanes of a batch that count as one request. A batch has the HTTP overhead, the main work of a request, only once. */
export const batchLanesPerRequest = 100
/** Maximum body of a batch. A lane is under 400 bytes, except with the longest place names. */
export const batchBytesMax = 512 * 1024
/** A batch stops after this time, because a shutdown of the service and load balancers wait for its response. */
export const batchSecondsMax = 15
/** Maximum quotes, outcomes or shipment updates per push. They count as the lanes of a batch do. */
export const pushedItemsMax = 500
/** Maximum body of a push: 500 items of 4 KB each, and some room. */
export const pushBytesMax = 2_560 * 1024
/** Quotes per page when an integration reads the changed quotes. */
export const changesPageDefault = 100
export const changesPageMax = 500
export const pageSizeDefault = 50
export const pageSizeMax = 200
/** Accessorial charges of an amount by name. A bill of lading has a few. */
export const chargesPerAmountMax = 20
/** Places between origin and destination. With these two, a load has at most 12 stops, more than a truck makes in a week. */
export const stopsMax = 10
/** Miles of a load. */
export const milesMax = 10_000
/** Days of an exchange table in one call: thirty years of working days. */
export const exchangeRatesMax = 8_000
/** A list of so many exchange rates as JSON, in lines of their own. */
export const exchangeBytesMax = 1024 * 1024
export const exchangeRatesShown = 30

/** Periods of a fuel schedule, and steps of a period: ten years of half-years, and prices from $1 to $7 in steps of 10 cents. */
export const fuelPeriodsMax = 20
export const fuelStepsMax = 60
export const fuelBytesMax = 128 * 1024
/**
 * A file of diesel prices or exchange rates, as sent and unpacked. The EIA has published some 1,700 weeks of up to 100 bytes each. A
 * file of all regions is ten times as long.
 */
export const datedFileBytesMax = 3 * 1024 * 1024
/** Weeks of a file: a century. */
export const dieselWeeksMax = 5_200
/** Weekly diesel prices shown with the schedules. Two months include the price of any schedule that changes monthly. */
export const dieselWeeksShown = 8
/** Age at which a pending quote is "pending too long", in days. Spot quotes are decided within days. */
export const pendingDaysDefault = 7
export const pendingDaysMax = 365
/** Saved views of one person. A longer list is no longer quick to choose from. */
export const quoteViewsMax = 50
/** 50 views, each with a query and names of columns. */
export const quoteListBytesMax = 256 * 1024
/** Columns that a person chooses for the list of quotes. More do not fit on a screen. */
export const listColumnsMax = 30
/** The filters of a saved view as the query string of an address: ten filters of ordinary length. */
export const quoteViewTextMax = 1_000

/** Different unknown places of a batch, a push or a file for which similar names are looked up. Each lookup takes 1 to 2 ms of CPU. */
export const unknownPlacesLookedUpMax = 20

/** Number of autocomplete suggestions: a list that can be read at a glance. */
export const suggestionsDefault = 8
export const suggestionsMax = 50
/**
 * The places that a tenant uses are taken from this many of its newest quotes. More would be slower and less relevant.
 */
export const quotesOfUsedPlacesMax = 2_000
/** Maximum points in the chart of a lane. The monthly figures count every quote. */
export const lanePointsMax = 2_000
/** A cursor encodes the end of a page: at most a customer name of 200 code points, in base64. */
export const cursorLengthMax = 1_500

/** Rejected requests from one address (an IPv4 address or an IPv6 /64) in one second before the service returns 429. */
export const refusedPerAddressPerSecondMax = 100
/** Failed sign-ins from one address in a quarter of an hour (OWASP ASVS 2.2). */
export const signInFailuresPerAddressMax = 30
export const signInWindowSeconds = 15 * 60
/** After this many failed sign-ins to one account, each further failure doubles the wait, up to the window. */
export const signInFailuresBeforeDelay = 5

/**
 * A network is known if the person signed in from it within this time: wrong passwords from other networks do not delay sign-ins
 * from it. The second limit is the number of known networks per person, newest first: the office, home, the telephone, and some
 * travel.
 */
export const knownNetworkDays = 30
export const knownNetworksMax = 10
/**
 * Look-ups of whether a delayed sign-in is from a known network, per network and quarter of an hour. Without a look-up, the sign-in
 * waits.
 */
export const knownNetworkLookUpsMax = 30

/**
 * Sign-up attempts per network (an IPv4 address or an IPv6 /64) and hour. All networks together may make
 * `signUpNetworksPerHour` times as many. Each successful sign-up computes a password hash and creates a brokerage.
 */
export const signUpsPerNetworkPerHour = 5
export const signUpNetworksPerHour = 20

/**
 * Maximum queue of password hashes in one process. Two are computed at a time, in about 30 ms each. Beyond the limit
 * the wait would exceed 1.5 seconds, so further requests must retry later.
 */
export const passwordHashesWaitingMax = 100

/** Maximum time for a body to arrive. File uploads have a longer timeout. */
export const bodyArrivalSecondsMax = 15
export const headersArrivalSecondsMax = 10
export const uploadArrivalSecondsMax = 300
/** The rate that an upload keeps after its first seconds, in bytes per second: a slow telephone sends 30,000. */
export const uploadBytesPerSecondMin = 16_000
export const uploadGraceSeconds = 10
export const keepAliveSeconds = 65
/** If a client reads nothing of a response for this long, the response is aborted and the connection closed. */
export const answerStallSecondsMax = 60
/** On shutdown, the service still accepts connections for this long, so that load balancers and clients can drain. */
export const drainSeconds = 2
/** On shutdown, after the drain: maximum time for requests in progress to finish. */
export const stopSecondsMax = 20
export const socketsPerNetworkMax = 100

/**
 * Dashboard requests of one brokerage that an instance works on at once, and that wait. A page sends up to eight requests. The
 * database runs at most four transactions of a brokerage at a time, so more requests at once would only need more memory. The last
 * of 128 waiting requests waits as long as callers may have to.
 */
export const dashboardRequestsAtOnceMax = 16
export const dashboardRequestsWaitingMax = 128
/**
 * Processor time of an instance that dashboard requests of one brokerage may take without yielding: 40 % of the thread, and up to a
 * second at once. Eight people at work take 3 %. Work that yields is not counted, because it takes turns with the work of others. A
 * brokerage owes at most what it gains in a second, so no request waits longer than a second for an earlier request.
 */
export const dashboardProcessorMsPerSecond = 400
export const dashboardProcessorMsMax = 1_000
/** Quotes of a larger push are not forecast, because such a push is a synchronization, and each forecast takes 1.5 ms. */
export const forecastQuotesPerPushMax = 50
/** A report of forecasts covers the quotes of a year, because the forecasts of older quotes came from another model. */
export const forecastReportDays = 365
