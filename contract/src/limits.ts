/** Every limit of the service, its name and its reason. */

/** The interface's rate limit: requests of one tenant, over all integration endpoints, in any one second. */
export const tenantRequestsPerWindowMax = 10
export const tenantWindowSeconds = 1

/** The interface's replay window: how far a signed timestamp may be from the server clock, on either side. */
export const signatureToleranceSeconds = 300

/** A JSON body, which is sent uncompressed. Real shipment updates are under 1 KiB; 64 KiB leaves room and bounds the work before the HMAC. */
export const bodyBytesMax = 64 * 1024
/** A quote request may hold 100 lanes; each is under 2 KiB. */
export const quoteRequestBytesMax = 256 * 1024
/** A CSV of past quotes: a million rows of about 120 bytes. It holds for the file as it is sent, and for the unpacked file. */
export const importBytesMax = 128 * 1024 * 1024
/**
 * Files of all brokerages that are being received, wait or are imported, in the form they were sent in: an instance sets
 * the memory apart before it reads a file, and holds no more of them.
 */
export const importBytesHeldMax = 256 * 1024 * 1024
/** The first part of an imported file, in which its header must end. */
export const importHeadBytesMax = 256 * 1024
export const importColumnsMax = 1_000
/** The names of that many columns, each character of which may need up to six bytes inside a JSON text. */
export const importHeadersBytesMax = 512 * 1024

/** JSON.parse takes 100,000 levels without complaint; no body of ours needs more than 4. */
export const jsonDepthMax = 16
export const jsonKeysMax = 64
/** A quote request of 100 lanes has at most 8 keys a lane. */
export const quoteRequestKeysMax = 1_000

/** Entries of the header `Ignored-Fields`, and its length: clients take 8 to 16 KiB of headers in all. */
export const ignoredPathsMax = 20
export const ignoredHeaderLengthMax = 2_000
/** Unknown fields that a refusal lists, each by its path. */
export const unknownFieldErrorsMax = 100

export const uriBytesMax = 8 * 1024
export const headerBytesMax = 16 * 1024

/** Names of people, customers, carriers, tokens: longer ones are mistakes. Counted in code points. */
export const nameLengthMax = 200
export const labelLengthMax = 100
/** Rates and costs, in dollars: a truckload is under 100,000; the column holds this much. */
export const dollarsMax = 9_999_999.99

export const serviceTokenLifetimeDays = 365
/** From so long before a service token's end on, its answers and the dashboard say when it ends. */
export const tokenExpiryNoticeDays = 30
export const dashboardTokenLifetimeHours = 12
/** The bearer that a page gets for a moment: long enough to work with a form, short enough to be worth little when leaked. */
export const sessionTokenLifetimeSeconds = 300
export const invitationLifetimeDays = 7
/** Clock difference between our own processes that a token check forgives. */
export const tokenLeewaySeconds = 30

/** The log of calls to the integration interface: enough to look back over a bad weekend, and a few megabytes at most. */
export const callsKeptPerTenantMax = 5_000
export const callsKeptDaysMax = 7

/** Each check tries some fifty signatures of a body of up to 64 KiB for each of a few secrets: tens of milliseconds. */
export const signatureChecksPerMinuteMax = 30
/** A body of 64 KiB inside a JSON text: each of its bytes may need up to six there. */
export const signatureCheckBytesMax = 400 * 1024

export const liveSecretsPerNameMax = 2
export const secretOverlapHoursDefault = 24
export const secretOverlapHoursMax = 7 * 24

/** Addresses of a brokerage that events are sent to: each is one more request for every event. */
export const eventEndpointsMax = 5
export const eventUrlLengthMax = 1_000
/**
 * How long after an attempt that failed an event is tried again: the schedule of the Standard Webhooks specification, ten
 * attempts over three days. Each wait is up to a tenth longer or shorter, so that many do not come back at once.
 */
export const deliveryDelaysSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const
/** One attempt, from the look-up of the name to the end of the answer. */
export const deliverySecondsMax = 10
/** Of an answer nothing but its status counts: what is longer is not read. */
export const deliveryAnswerBytesMax = 64 * 1024
/** The characters of an answer that the log of deliveries keeps. */
export const deliveryAnswerKeptMax = 500
/** Attempts at once to one address, by one instance of the service; to one that has just failed, one. */
export const deliveriesPerEndpointMax = 8
/** Addresses that one instance sends to at once, and how many of them may be failing: the others never wait for those. */
export const endpointsAtOnceMax = 64
export const failingEndpointsAtOnceMax = 32
/** Events and what became of them: long enough to notice that something was missed, and to send it again. */
export const eventsKeptDaysMax = 30
/** Events that are sent again at one request. */
export const replayedEventsMax = 10_000

/** NIST SP 800-63B: at least 15 characters where the password is the only factor; no upper bound below 64. */
export const passwordLengthMin = 15
export const passwordLengthMax = 128

export const lanesPerRequestMax = 100

/** Rows that the desk reads from one paste: more than a request takes, so that a person can choose. */
export const pastedRowsMax = 300
export const pastedColumnsMax = 60
export const pastedLengthMax = 60_000

/** Lanes that are priced in one call: a list that a shipper sends to be priced; the peers take as many. */
export const batchLanesMax = 1_000
/** Lanes of a batch that count as one request: what costs a request most, its HTTP, they have once. */
export const batchLanesPerRequest = 100
/** Each lane is under 400 bytes, unless its places are spelled in the longest way. */
export const batchBytesMax = 512 * 1024
/** Six keys a lane, and some that are not known. */
export const batchKeysMax = 8_000
/** What a batch has not reached by then it leaves: a stop waits for it, and so do balancers. */
export const batchSecondsMax = 15
export const pageSizeDefault = 50
export const pageSizeMax = 200

/** Unknown places of a batch for which close names are looked up. Each takes a millisecond or two of the process. */
export const unknownPlacesLookedUpMax = 20

/** What is offered while somebody types: a list that is read at a glance. */
export const suggestionsDefault = 8
export const suggestionsMax = 50
/** A tenant's newest lanes say which places it quotes; older ones would be slower to read and less apt. */
export const lanesOfUsedPlacesMax = 2_000
/** Dots that a chart of one lane can show; the months beside them count every quote. */
export const lanePointsMax = 2_000
/** A cursor holds where a page ended: at most a customer's name of 200 code points, in base64. */
export const cursorLengthMax = 1_500

/** Rejected requests from one address (an IPv4 address or an IPv6 /64) in one second before we answer 429. */
export const refusedPerAddressPerSecondMax = 100
/** Failed sign-ins from one address in a quarter of an hour (OWASP ASVS 2.2). */
export const signInFailuresPerAddressMax = 30
export const signInWindowSeconds = 15 * 60
/** After this many failures on one account each further one doubles the wait, up to the window. */
export const signInFailuresBeforeDelay = 5

/**
 * Sign-ups that one network (an IPv4 address or an IPv6 /64) may try in an hour, and how many times that all networks
 * together may: each that goes through computes a password hash and makes a brokerage.
 */
export const signUpsPerNetworkPerHour = 5
export const signUpNetworksPerHour = 20

/**
 * Password hashes that wait for their turn in one process; two are computed at once, in about 30 ms each. Whoever would be
 * the next in line is asked to come back: they would wait for longer than a second and a half.
 */
export const passwordHashesWaitingMax = 100

/** How long a body may take to arrive. A file upload has the server's longer request time-out. */
export const bodyArrivalSecondsMax = 15
export const headersArrivalSecondsMax = 10
export const uploadArrivalSecondsMax = 300
export const keepAliveSeconds = 65
/** A caller that takes nothing of its answer for so long is not waited for: the answer and the connection are let go. */
export const answerStallSecondsMax = 60
/** A stop answers for so long before it closes the door, so that balancers and clients leave of themselves. */
export const drainSeconds = 2
/** After a stop has closed the door: how long what has begun may take to end. */
export const stopSecondsMax = 20
export const socketsPerNetworkMax = 100
